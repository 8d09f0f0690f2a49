// A new schedule begins with the time zone of the browser.
const select = document.querySelector("[data-own-time-zone]");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (select && [...select.options].some((option) => option.value === own)) select.value = own;
