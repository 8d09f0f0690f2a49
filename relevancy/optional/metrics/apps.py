from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class MetricsConfig(hooks.OptionalApp):
    name = "relevancy.optional.metrics"
    verbose_name = "Metrics"
    guides_for = hooks.Audience.ADMINISTRATORS
