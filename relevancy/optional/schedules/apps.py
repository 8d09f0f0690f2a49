from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class SchedulesConfig(hooks.OptionalApp):
    name = "relevancy.optional.schedules"
    verbose_name = "Schedules"
    requires = ("groups",)
