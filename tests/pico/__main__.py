from tests.pico.trim import TRIMMED, trimmed

TRIMMED.write_text(trimmed())
