"""All programs: importing their files registers them."""

import attentions  # noqa: F401
import convolutions  # noqa: F401
import elementwise  # noqa: F401
import linalg_products  # noqa: F401
import lists  # noqa: F401
import models_exported  # noqa: F401
import models_layers  # noqa: F401
import models_recurrent  # noqa: F401
import models_transformer  # noqa: F401
import models_vision  # noqa: F401
import reductions  # noqa: F401
import shapes  # noqa: F401
