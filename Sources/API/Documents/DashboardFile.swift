import Hashing

/// A file of the dashboard. The files are in `Sources/API/Dashboard`, and are embedded in the executable unchanged.
struct DashboardFile: Sendable {
    let name: String
    let bytes: [UInt8]
    /// The strong entity tag, a hash of the content.
    let tag: String

    /// The media type. Browsers require the right type for modules and style sheets.
    var type: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        tag = "\"\(HashFunction.sha256.hash(bytes).prefix(16).hexadecimal)\""
    }
}

extension DashboardFile {
    static let page = Self("index.html", PackageResources.index_html)

    /// The files that the page loads. `DashboardFileTests` compares the list with the folder.
    static let named: [String: Self] = Dictionary(
        uniqueKeysWithValues: [
            Self("actions.js", PackageResources.actions_js),
            Self("add.js", PackageResources.add_js),
            Self("addresses.js", PackageResources.addresses_js),
            Self("api.js", PackageResources.api_js),
            Self("attempts.js", PackageResources.attempts_js),
            Self("attention.js", PackageResources.attention_js),
            Self("bulk.js", PackageResources.bulk_js),
            Self("coalesce.js", PackageResources.coalesce_js),
            Self("connection.js", PackageResources.connection_js),
            Self("dashboard.css", PackageResources.dashboard_css),
            Self("deliveries.js", PackageResources.deliveries_js),
            Self("details.js", PackageResources.details_js),
            Self("dom.js", PackageResources.dom_js),
            Self("drop.js", PackageResources.drop_js),
            Self("facts.js", PackageResources.facts_js),
            Self("feed.js", PackageResources.feed_js),
            Self("format.js", PackageResources.format_js),
            Self("formdialog.js", PackageResources.formdialog_js),
            Self("icon.svg", PackageResources.icon_svg),
            Self("joborder.js", PackageResources.joborder_js),
            Self("jobrow.js", PackageResources.jobrow_js),
            Self("jobs.js", PackageResources.jobs_js),
            Self("jobset.js", PackageResources.jobset_js),
            Self("main.js", PackageResources.main_js),
            Self("notices.js", PackageResources.notices_js),
            Self("pages.js", PackageResources.pages_js),
            Self("problems.js", PackageResources.problems_js),
            Self("question.js", PackageResources.question_js),
            Self("rowkeys.js", PackageResources.rowkeys_js),
            Self("scopes.js", PackageResources.scopes_js),
            Self("segments.js", PackageResources.segments_js),
            Self("selection.js", PackageResources.selection_js),
            Self("selectionbar.js", PackageResources.selectionbar_js),
            Self("sessionform.js", PackageResources.sessionform_js),
            Self("sessionrow.js", PackageResources.sessionrow_js),
            Self("sessions.js", PackageResources.sessions_js),
            Self("settings.js", PackageResources.settings_js),
            Self("signin.js", PackageResources.signin_js),
            Self("sorting.js", PackageResources.sorting_js),
            Self("sse.js", PackageResources.sse_js),
            Self("supply.js", PackageResources.supply_js),
            Self("throughput.js", PackageResources.throughput_js),
            Self("values.js", PackageResources.values_js),
            Self("views.js", PackageResources.views_js),
            Self("webhookcard.js", PackageResources.webhookcard_js),
            Self("webhookform.js", PackageResources.webhookform_js),
            Self("webhooks.js", PackageResources.webhooks_js),
            Self("words.js", PackageResources.words_js),
        ].map { ($0.name, $0) })
}
