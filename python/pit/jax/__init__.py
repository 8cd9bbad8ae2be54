"""pit in JAX: ops inside of jax.jit, with gradients.

    import jax, pit
    step = jax.jit(lambda x, w: pit.linear(x, w, activation="relu").sum())
    gradients = jax.grad(step, argnums=(0, 1))(x, w)

The functions of `pit` take tracers of JAX anywhere; this module is imported when
they see the first one. Import it yourself where a function that was compiled
elsewhere (jax.export) is run. docs/Jax.md says what works.
"""

from ._run import route

__all__: list[str] = []
