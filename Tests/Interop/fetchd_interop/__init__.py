"""fetchd with servers, proxies and reverse proxies that others wrote: the same checks with each."""
