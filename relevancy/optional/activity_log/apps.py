from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class ActivityLogConfig(hooks.OptionalApp):
    name = "relevancy.optional.activity_log"
    verbose_name = "Activity log"
    guides_for = hooks.Audience.ADMINISTRATORS
