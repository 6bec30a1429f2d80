"""The best tree for a machine: expected tokens per step weighed against the time a step takes.

Times: hardware_profile, roofline, named_profiles, simulated_step_times. Plans: plan_for_machine,
compare_plans. The paper's speed-ups: paper_results; those of others: published.
"""
