"""The best tree for a machine: expected tokens per step weighed against the time a step takes.

Times: hardware_profile, roofline, named_profiles, simulated_step_times. Plans: plan_for_machine,
explain_plan. Figures in words: figure_words. The paper's speed-ups: paper_results.
"""
