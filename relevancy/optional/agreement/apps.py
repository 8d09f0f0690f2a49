from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class AgreementConfig(hooks.OptionalApp):
    name = "relevancy.optional.agreement"
    verbose_name = "Agreement of raters"
