import HTTPServer
import HTTPTypes

/// `/`: the dashboard page and the files that it loads. They need no token, because they contain no data of the
/// service: the page requests its data from the API, with the token that the user enters.
struct DashboardRoutes: Sendable {
    var routes: [Route] {
        [
            Route(.get, "/", .open) { context in DashboardFile.page.response(to: context.head) },
            Route(.get, "/dashboard/{file}", .open, file),
        ]
    }

    private func file(_ context: RequestContext) async throws -> Response {
        guard let file = DashboardFile.named[context.parameter("file")] else {
            throw Problem(.notFound, "The dashboard has no file of this name. It begins at /.")
        }
        return file.response(to: context.head)
    }
}

extension DashboardFile {
    fileprivate func response(to head: RequestHead) -> Response {
        var headers: HTTPFields = [
            .eTag: tag,
            // The browser stores the file but checks its tag before each use, so the page and its files are always of
            // one version.
            .cacheControl: "no-cache",
            .contentSecurityPolicy: Self.contentSecurityPolicy,
            .xContentTypeOptions: "nosniff",
        ]
        headers[.referrerPolicy] = "no-referrer"
        headers[.crossOriginResourcePolicy] = "same-origin"
        guard !head.isMet(byTag: tag) else {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = type
        return Response(status: .ok, headers: headers, body: .bytes(bytes))
    }

    /// Allows no external source, no inline code and no enclosing frame. So a name or an error text that was inserted
    /// into the page as markup would have no effect (Content Security Policy Level 3).
    private static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
    fileprivate static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
}
