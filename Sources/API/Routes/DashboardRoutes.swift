import HTTPServer
import HTTPTypes

/// `/`: the page for people, and the files it loads. Open to everybody who reaches the port, for it holds nothing of
/// anybody's: what it shows it asks the API for, with the token that its reader enters.
struct DashboardRoutes: Sendable {
    var routes: [Route] {
        [
            Route(.get, "/", isOpen: true) { context in DashboardFile.page.response(to: context.head) },
            Route(.get, "/dashboard/{file}", isOpen: true, file),
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
            // Kept, but asked about each time: the page and what it loads are always of one version.
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

    /// Nothing from elsewhere, nothing inline, no frame around it: a name or an error text that found its way into the
    /// page as markup could still do nothing (Content Security Policy Level 3).
    private static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
    fileprivate static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
}
