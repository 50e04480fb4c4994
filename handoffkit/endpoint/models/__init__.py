"""Who answers when nobody is asked over the network: simulated models, chosen by name or given in code."""
