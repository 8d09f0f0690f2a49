from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class QuepidConfig(hooks.OptionalApp):
    name = "relevancy.optional.quepid"
    verbose_name = "Files of Quepid"
