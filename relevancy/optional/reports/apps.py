from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class ReportsConfig(hooks.OptionalApp):
    name = "relevancy.optional.reports"
    verbose_name = "Reports"
