from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class QualificationConfig(hooks.OptionalApp):
    name = "relevancy.optional.qualification"
    verbose_name = "Qualification of raters"
    guides_for = hooks.Audience.RATERS
