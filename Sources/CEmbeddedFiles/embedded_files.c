// Files that the program serves. C can embed them in no time; Swift's compiler takes minutes for as many bytes in an array.
#include "CEmbeddedFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_yaml[] = {
#embed "../../openapi.yaml"
};
static const unsigned char actions_js[] = {
#embed "../API/Dashboard/actions.js"
};
static const unsigned char add_js[] = {
#embed "../API/Dashboard/add.js"
};
static const unsigned char addresses_js[] = {
#embed "../API/Dashboard/addresses.js"
};
static const unsigned char api_js[] = {
#embed "../API/Dashboard/api.js"
};
static const unsigned char attempts_js[] = {
#embed "../API/Dashboard/attempts.js"
};
static const unsigned char attention_js[] = {
#embed "../API/Dashboard/attention.js"
};
static const unsigned char bulk_js[] = {
#embed "../API/Dashboard/bulk.js"
};
static const unsigned char coalesce_js[] = {
#embed "../API/Dashboard/coalesce.js"
};
static const unsigned char connection_js[] = {
#embed "../API/Dashboard/connection.js"
};
static const unsigned char dashboard_css[] = {
#embed "../API/Dashboard/dashboard.css"
};
static const unsigned char deliveries_js[] = {
#embed "../API/Dashboard/deliveries.js"
};
static const unsigned char details_js[] = {
#embed "../API/Dashboard/details.js"
};
static const unsigned char dom_js[] = {
#embed "../API/Dashboard/dom.js"
};
static const unsigned char drop_js[] = {
#embed "../API/Dashboard/drop.js"
};
static const unsigned char facts_js[] = {
#embed "../API/Dashboard/facts.js"
};
static const unsigned char feed_js[] = {
#embed "../API/Dashboard/feed.js"
};
static const unsigned char format_js[] = {
#embed "../API/Dashboard/format.js"
};
static const unsigned char formdialog_js[] = {
#embed "../API/Dashboard/formdialog.js"
};
static const unsigned char icon_svg[] = {
#embed "../API/Dashboard/icon.svg"
};
static const unsigned char index_html[] = {
#embed "../API/Dashboard/index.html"
};
static const unsigned char joborder_js[] = {
#embed "../API/Dashboard/joborder.js"
};
static const unsigned char jobrow_js[] = {
#embed "../API/Dashboard/jobrow.js"
};
static const unsigned char jobs_js[] = {
#embed "../API/Dashboard/jobs.js"
};
static const unsigned char jobset_js[] = {
#embed "../API/Dashboard/jobset.js"
};
static const unsigned char main_js[] = {
#embed "../API/Dashboard/main.js"
};
static const unsigned char notices_js[] = {
#embed "../API/Dashboard/notices.js"
};
static const unsigned char pages_js[] = {
#embed "../API/Dashboard/pages.js"
};
static const unsigned char problems_js[] = {
#embed "../API/Dashboard/problems.js"
};
static const unsigned char question_js[] = {
#embed "../API/Dashboard/question.js"
};
static const unsigned char rowkeys_js[] = {
#embed "../API/Dashboard/rowkeys.js"
};
static const unsigned char scopes_js[] = {
#embed "../API/Dashboard/scopes.js"
};
static const unsigned char segments_js[] = {
#embed "../API/Dashboard/segments.js"
};
static const unsigned char selection_js[] = {
#embed "../API/Dashboard/selection.js"
};
static const unsigned char selectionbar_js[] = {
#embed "../API/Dashboard/selectionbar.js"
};
static const unsigned char sessionform_js[] = {
#embed "../API/Dashboard/sessionform.js"
};
static const unsigned char sessionrow_js[] = {
#embed "../API/Dashboard/sessionrow.js"
};
static const unsigned char sessions_js[] = {
#embed "../API/Dashboard/sessions.js"
};
static const unsigned char settings_js[] = {
#embed "../API/Dashboard/settings.js"
};
static const unsigned char signin_js[] = {
#embed "../API/Dashboard/signin.js"
};
static const unsigned char sorting_js[] = {
#embed "../API/Dashboard/sorting.js"
};
static const unsigned char sse_js[] = {
#embed "../API/Dashboard/sse.js"
};
static const unsigned char supply_js[] = {
#embed "../API/Dashboard/supply.js"
};
static const unsigned char throughput_js[] = {
#embed "../API/Dashboard/throughput.js"
};
static const unsigned char values_js[] = {
#embed "../API/Dashboard/values.js"
};
static const unsigned char views_js[] = {
#embed "../API/Dashboard/views.js"
};
static const unsigned char webhookcard_js[] = {
#embed "../API/Dashboard/webhookcard.js"
};
static const unsigned char webhookform_js[] = {
#embed "../API/Dashboard/webhookform.js"
};
static const unsigned char webhooks_js[] = {
#embed "../API/Dashboard/webhooks.js"
};
static const unsigned char words_js[] = {
#embed "../API/Dashboard/words.js"
};

#define FILE_OF(name, array) {name, array, sizeof(array)}

static const EmbeddedFile dashboard_files[] = {
    FILE_OF("actions.js", actions_js),
    FILE_OF("add.js", add_js),
    FILE_OF("addresses.js", addresses_js),
    FILE_OF("api.js", api_js),
    FILE_OF("attempts.js", attempts_js),
    FILE_OF("attention.js", attention_js),
    FILE_OF("bulk.js", bulk_js),
    FILE_OF("coalesce.js", coalesce_js),
    FILE_OF("connection.js", connection_js),
    FILE_OF("dashboard.css", dashboard_css),
    FILE_OF("deliveries.js", deliveries_js),
    FILE_OF("details.js", details_js),
    FILE_OF("dom.js", dom_js),
    FILE_OF("drop.js", drop_js),
    FILE_OF("facts.js", facts_js),
    FILE_OF("feed.js", feed_js),
    FILE_OF("format.js", format_js),
    FILE_OF("formdialog.js", formdialog_js),
    FILE_OF("icon.svg", icon_svg),
    FILE_OF("index.html", index_html),
    FILE_OF("joborder.js", joborder_js),
    FILE_OF("jobrow.js", jobrow_js),
    FILE_OF("jobs.js", jobs_js),
    FILE_OF("jobset.js", jobset_js),
    FILE_OF("main.js", main_js),
    FILE_OF("notices.js", notices_js),
    FILE_OF("pages.js", pages_js),
    FILE_OF("problems.js", problems_js),
    FILE_OF("question.js", question_js),
    FILE_OF("rowkeys.js", rowkeys_js),
    FILE_OF("scopes.js", scopes_js),
    FILE_OF("segments.js", segments_js),
    FILE_OF("selection.js", selection_js),
    FILE_OF("selectionbar.js", selectionbar_js),
    FILE_OF("sessionform.js", sessionform_js),
    FILE_OF("sessionrow.js", sessionrow_js),
    FILE_OF("sessions.js", sessions_js),
    FILE_OF("settings.js", settings_js),
    FILE_OF("signin.js", signin_js),
    FILE_OF("sorting.js", sorting_js),
    FILE_OF("sse.js", sse_js),
    FILE_OF("supply.js", supply_js),
    FILE_OF("throughput.js", throughput_js),
    FILE_OF("values.js", values_js),
    FILE_OF("views.js", views_js),
    FILE_OF("webhookcard.js", webhookcard_js),
    FILE_OF("webhookform.js", webhookform_js),
    FILE_OF("webhooks.js", webhooks_js),
    FILE_OF("words.js", words_js),
};

const EmbeddedFile *embedded_dashboard_files(size_t *count) {
    *count = sizeof(dashboard_files) / sizeof(dashboard_files[0]);
    return dashboard_files;
}

EmbeddedFile embedded_api_description(void) {
    return (EmbeddedFile)FILE_OF("openapi.yaml", openapi_yaml);
}
