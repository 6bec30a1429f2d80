"""The best tree for a machine: expected tokens per step weighed against the time a step takes.

hardware_profile, roofline, named_profiles, plan_for_machine, plan_stopping_chain, explain_plan,
fit_acceptance, simulated_step_times.
"""
