import HTTPServer
import HTTPTypes

/// `/`: the dashboard page and the files that it loads. They need no token, because they contain no data of the
/// service: the page requests its data from the API, with the token that the user enters.
struct DashboardRoutes: Sendable {
    var routes: [Route] {
        [
            Route(.get, "/", .open, immediate: { Self.answer(DashboardFile.page, $0) }) { context in
                DashboardFile.page.response(to: context.head)
            },
            Route(.get, "/dashboard/{file}", .open, immediate: { Self.answer(Self.named($0), $0) }) { context in
                guard let file = Self.named(context) else {
                    throw Problem(.notFound, "The dashboard has no file of this name. It begins at /.")
                }
                return file.response(to: context.head)
            },
        ]
    }

    private static func named(_ context: RequestContext) -> DashboardFile? {
        DashboardFile.named[context.parameter("file")]
    }

    /// nil for a request with a query, which may be refused.
    private static func answer(_ file: DashboardFile?, _ context: RequestContext) -> Answer? {
        context.head.query == nil ? file?.answer(to: context.head) : nil
    }
}
