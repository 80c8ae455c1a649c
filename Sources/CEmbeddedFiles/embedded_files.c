// Files that the program serves. C's compiler embeds them in a second; Swift's takes minutes for as many bytes in an array.
#include "CEmbeddedFiles.h"

// Debuggers need nothing about these bytes, and valgrind 3.19 cannot read clang's description of them.
#define SILENT __attribute__((nodebug))
#define NAME SILENT static const char
#define BYTES SILENT static const unsigned char

#pragma clang diagnostic ignored "-Wc23-extensions"

NAME openapi_yaml_name[] = "openapi.yaml";
BYTES openapi_yaml[] = {
#embed "../../openapi.yaml"
};
NAME client_js_name[] = "client.js";
BYTES client_js[] = {
#embed "../../clients/javascript/fetchd.js"
};
NAME actions_js_name[] = "actions.js";
BYTES actions_js[] = {
#embed "../API/Dashboard/actions.js"
};
NAME add_js_name[] = "add.js";
BYTES add_js[] = {
#embed "../API/Dashboard/add.js"
};
NAME addresses_js_name[] = "addresses.js";
BYTES addresses_js[] = {
#embed "../API/Dashboard/addresses.js"
};
NAME api_js_name[] = "api.js";
BYTES api_js[] = {
#embed "../API/Dashboard/api.js"
};
NAME attempts_js_name[] = "attempts.js";
BYTES attempts_js[] = {
#embed "../API/Dashboard/attempts.js"
};
NAME attention_js_name[] = "attention.js";
BYTES attention_js[] = {
#embed "../API/Dashboard/attention.js"
};
NAME bulk_js_name[] = "bulk.js";
BYTES bulk_js[] = {
#embed "../API/Dashboard/bulk.js"
};
NAME coalesce_js_name[] = "coalesce.js";
BYTES coalesce_js[] = {
#embed "../API/Dashboard/coalesce.js"
};
NAME connection_js_name[] = "connection.js";
BYTES connection_js[] = {
#embed "../API/Dashboard/connection.js"
};
NAME consumers_js_name[] = "consumers.js";
BYTES consumers_js[] = {
#embed "../API/Dashboard/consumers.js"
};
NAME dashboard_css_name[] = "dashboard.css";
BYTES dashboard_css[] = {
#embed "../API/Dashboard/dashboard.css"
};
NAME dom_js_name[] = "dom.js";
BYTES dom_js[] = {
#embed "../API/Dashboard/dom.js"
};
NAME drop_js_name[] = "drop.js";
BYTES drop_js[] = {
#embed "../API/Dashboard/drop.js"
};
NAME facts_js_name[] = "facts.js";
BYTES facts_js[] = {
#embed "../API/Dashboard/facts.js"
};
NAME finish_js_name[] = "finish.js";
BYTES finish_js[] = {
#embed "../API/Dashboard/finish.js"
};
NAME format_js_name[] = "format.js";
BYTES format_js[] = {
#embed "../API/Dashboard/format.js"
};
NAME formdialog_js_name[] = "formdialog.js";
BYTES formdialog_js[] = {
#embed "../API/Dashboard/formdialog.js"
};
NAME hosts_js_name[] = "hosts.js";
BYTES hosts_js[] = {
#embed "../API/Dashboard/hosts.js"
};
NAME icon_svg_name[] = "icon.svg";
BYTES icon_svg[] = {
#embed "../API/Dashboard/icon.svg"
};
NAME index_html_name[] = "index.html";
BYTES index_html[] = {
#embed "../API/Dashboard/index.html"
};
NAME joborder_js_name[] = "joborder.js";
BYTES joborder_js[] = {
#embed "../API/Dashboard/joborder.js"
};
NAME jobrow_js_name[] = "jobrow.js";
BYTES jobrow_js[] = {
#embed "../API/Dashboard/jobrow.js"
};
NAME jobs_js_name[] = "jobs.js";
BYTES jobs_js[] = {
#embed "../API/Dashboard/jobs.js"
};
NAME jobset_js_name[] = "jobset.js";
BYTES jobset_js[] = {
#embed "../API/Dashboard/jobset.js"
};
NAME jobsheet_js_name[] = "jobsheet.js";
BYTES jobsheet_js[] = {
#embed "../API/Dashboard/jobsheet.js"
};
NAME keys_js_name[] = "keys.js";
BYTES keys_js[] = {
#embed "../API/Dashboard/keys.js"
};
NAME limit_js_name[] = "limit.js";
BYTES limit_js[] = {
#embed "../API/Dashboard/limit.js"
};
NAME locations_js_name[] = "locations.js";
BYTES locations_js[] = {
#embed "../API/Dashboard/locations.js"
};
NAME main_js_name[] = "main.js";
BYTES main_js[] = {
#embed "../API/Dashboard/main.js"
};
NAME notices_js_name[] = "notices.js";
BYTES notices_js[] = {
#embed "../API/Dashboard/notices.js"
};
NAME palette_js_name[] = "palette.js";
BYTES palette_js[] = {
#embed "../API/Dashboard/palette.js"
};
NAME parts_js_name[] = "parts.js";
BYTES parts_js[] = {
#embed "../API/Dashboard/parts.js"
};
NAME problems_js_name[] = "problems.js";
BYTES problems_js[] = {
#embed "../API/Dashboard/problems.js"
};
NAME question_js_name[] = "question.js";
BYTES question_js[] = {
#embed "../API/Dashboard/question.js"
};
NAME render_js_name[] = "render.js";
BYTES render_js[] = {
#embed "../API/Dashboard/render.js"
};
NAME rowdrag_js_name[] = "rowdrag.js";
BYTES rowdrag_js[] = {
#embed "../API/Dashboard/rowdrag.js"
};
NAME rowkeys_js_name[] = "rowkeys.js";
BYTES rowkeys_js[] = {
#embed "../API/Dashboard/rowkeys.js"
};
NAME scopes_js_name[] = "scopes.js";
BYTES scopes_js[] = {
#embed "../API/Dashboard/scopes.js"
};
NAME segments_js_name[] = "segments.js";
BYTES segments_js[] = {
#embed "../API/Dashboard/segments.js"
};
NAME selection_js_name[] = "selection.js";
BYTES selection_js[] = {
#embed "../API/Dashboard/selection.js"
};
NAME selectionbar_js_name[] = "selectionbar.js";
BYTES selectionbar_js[] = {
#embed "../API/Dashboard/selectionbar.js"
};
NAME sessionform_js_name[] = "sessionform.js";
BYTES sessionform_js[] = {
#embed "../API/Dashboard/sessionform.js"
};
NAME sessionrow_js_name[] = "sessionrow.js";
BYTES sessionrow_js[] = {
#embed "../API/Dashboard/sessionrow.js"
};
NAME sessions_js_name[] = "sessions.js";
BYTES sessions_js[] = {
#embed "../API/Dashboard/sessions.js"
};
NAME sessionsheet_js_name[] = "sessionsheet.js";
BYTES sessionsheet_js[] = {
#embed "../API/Dashboard/sessionsheet.js"
};
NAME settings_js_name[] = "settings.js";
BYTES settings_js[] = {
#embed "../API/Dashboard/settings.js"
};
NAME sheet_js_name[] = "sheet.js";
BYTES sheet_js[] = {
#embed "../API/Dashboard/sheet.js"
};
NAME signin_js_name[] = "signin.js";
BYTES signin_js[] = {
#embed "../API/Dashboard/signin.js"
};
NAME sorting_js_name[] = "sorting.js";
BYTES sorting_js[] = {
#embed "../API/Dashboard/sorting.js"
};
NAME supply_js_name[] = "supply.js";
BYTES supply_js[] = {
#embed "../API/Dashboard/supply.js"
};
NAME theme_js_name[] = "theme.js";
BYTES theme_js[] = {
#embed "../API/Dashboard/theme.js"
};
NAME throughput_js_name[] = "throughput.js";
BYTES throughput_js[] = {
#embed "../API/Dashboard/throughput.js"
};
NAME timeline_js_name[] = "timeline.js";
BYTES timeline_js[] = {
#embed "../API/Dashboard/timeline.js"
};
NAME values_js_name[] = "values.js";
BYTES values_js[] = {
#embed "../API/Dashboard/values.js"
};
NAME views_js_name[] = "views.js";
BYTES views_js[] = {
#embed "../API/Dashboard/views.js"
};
NAME virtualrows_js_name[] = "virtualrows.js";
BYTES virtualrows_js[] = {
#embed "../API/Dashboard/virtualrows.js"
};
NAME webhookform_js_name[] = "webhookform.js";
BYTES webhookform_js[] = {
#embed "../API/Dashboard/webhookform.js"
};
NAME webhookrow_js_name[] = "webhookrow.js";
BYTES webhookrow_js[] = {
#embed "../API/Dashboard/webhookrow.js"
};
NAME webhooks_js_name[] = "webhooks.js";
BYTES webhooks_js[] = {
#embed "../API/Dashboard/webhooks.js"
};
NAME webhooksheet_js_name[] = "webhooksheet.js";
BYTES webhooksheet_js[] = {
#embed "../API/Dashboard/webhooksheet.js"
};
NAME welcome_js_name[] = "welcome.js";
BYTES welcome_js[] = {
#embed "../API/Dashboard/welcome.js"
};
NAME words_js_name[] = "words.js";
BYTES words_js[] = {
#embed "../API/Dashboard/words.js"
};

#define FILE_OF(array) {array##_name, array, sizeof(array)}

SILENT static const EmbeddedFile dashboard_files[] = {
    FILE_OF(actions_js),
    FILE_OF(add_js),
    FILE_OF(addresses_js),
    FILE_OF(api_js),
    FILE_OF(attempts_js),
    FILE_OF(attention_js),
    FILE_OF(bulk_js),
    FILE_OF(client_js),
    FILE_OF(coalesce_js),
    FILE_OF(connection_js),
    FILE_OF(consumers_js),
    FILE_OF(dashboard_css),
    FILE_OF(dom_js),
    FILE_OF(drop_js),
    FILE_OF(facts_js),
    FILE_OF(finish_js),
    FILE_OF(format_js),
    FILE_OF(formdialog_js),
    FILE_OF(hosts_js),
    FILE_OF(icon_svg),
    FILE_OF(index_html),
    FILE_OF(joborder_js),
    FILE_OF(jobrow_js),
    FILE_OF(jobs_js),
    FILE_OF(jobset_js),
    FILE_OF(jobsheet_js),
    FILE_OF(keys_js),
    FILE_OF(limit_js),
    FILE_OF(locations_js),
    FILE_OF(main_js),
    FILE_OF(notices_js),
    FILE_OF(palette_js),
    FILE_OF(parts_js),
    FILE_OF(problems_js),
    FILE_OF(question_js),
    FILE_OF(render_js),
    FILE_OF(rowdrag_js),
    FILE_OF(rowkeys_js),
    FILE_OF(scopes_js),
    FILE_OF(segments_js),
    FILE_OF(selection_js),
    FILE_OF(selectionbar_js),
    FILE_OF(sessionform_js),
    FILE_OF(sessionrow_js),
    FILE_OF(sessions_js),
    FILE_OF(sessionsheet_js),
    FILE_OF(settings_js),
    FILE_OF(sheet_js),
    FILE_OF(signin_js),
    FILE_OF(sorting_js),
    FILE_OF(supply_js),
    FILE_OF(theme_js),
    FILE_OF(throughput_js),
    FILE_OF(timeline_js),
    FILE_OF(values_js),
    FILE_OF(views_js),
    FILE_OF(virtualrows_js),
    FILE_OF(webhookform_js),
    FILE_OF(webhookrow_js),
    FILE_OF(webhooks_js),
    FILE_OF(webhooksheet_js),
    FILE_OF(welcome_js),
    FILE_OF(words_js),
};

SILENT const EmbeddedFile *embedded_dashboard_files(size_t *count) {
    *count = sizeof(dashboard_files) / sizeof(dashboard_files[0]);
    return dashboard_files;
}

SILENT EmbeddedFile embedded_api_description(void) {
    return (EmbeddedFile)FILE_OF(openapi_yaml);
}
