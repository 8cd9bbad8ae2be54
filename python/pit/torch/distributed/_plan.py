def chunks_of(here, layer, x, experts, tokens, capacity, wire):
    return 1
