"""The best tree for a machine: expected tokens held against measured or given times.

hardware_profile, plan_for_machine, explain_plan, fit_acceptance.
"""
