import Base
import CEmbeddedFiles
import HTTPServer
import HTTPTypes

/// `/`: the dashboard page and the files that it loads, and `/client.js`, which other pages load, too. They need no token,
/// because they contain no data of the service: the page requests its data from the API, with the token that the user
/// enters.
struct DashboardRoutes: Sendable {
    var routes: [Route] {
        [
            Route(.get, "/", .open, immediate: { Self.answer(DashboardFile.page, $0) }) { context in
                DashboardFile.page.response(to: context.head)
            },
            Route(.get, "/client.js", .open, immediate: { Self.answer(DashboardFile.client, $0) }) { context in
                DashboardFile.client.response(to: context.head)
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

    private static func answer(_ file: DashboardFile?, _ context: RequestContext) -> Answer? {
        context.head.query == nil ? file?.answer(to: context.head) : nil
    }
}

/// A file of the dashboard. The files are in `Sources/API/Dashboard`, and are embedded in the executable unchanged.
struct DashboardFile: Sendable {
    let name: String
    let bytes: [UInt8]
    let tag: String
    private let whole: Response
    /// Those of every response, also of 304.
    private let headers: HTTPFields
    /// One response for all clients, because the files are large, and need no token. nil if memory runs out.
    let prepared: PreparedResponse?

    /// The media type. Browsers require the right type for modules and style sheets.
    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }

    private init(_ name: String, _ bytes: [UInt8], isForEveryPage: Bool = false) {
        self.name = name
        self.bytes = bytes
        tag = "\"\(HashFunction.sha256.hash(bytes).prefix(16).hexadecimal)\""
        headers = Self.headers(tag, isForEveryPage: isForEveryPage)
        var fields = headers
        fields[.contentType] = Self.type(of: name)
        whole = Response(status: .ok, headers: fields, body: .bytes(bytes))
        prepared = PreparedResponse(whole)
    }

    func answer(to head: RequestHead) -> Answer? {
        head.isMet(byTag: tag)
            ? .now(Response(status: .notModified, headers: headers)) : prepared.map(Answer.prepared)
    }

    func response(to head: RequestHead) -> Response {
        head.isMet(byTag: tag) ? Response(status: .notModified, headers: headers) : whole
    }

    private static func headers(_ tag: String, isForEveryPage: Bool) -> HTTPFields {
        var headers: HTTPFields = [
            .eTag: tag,
            // The browser stores the file but checks its tag before each use, so the page and its files are always of
            // one version.
            .cacheControl: "no-cache",
            .contentSecurityPolicy: contentSecurityPolicy,
            .xContentTypeOptions: "nosniff",
        ]
        headers[.referrerPolicy] = "no-referrer"
        headers[.crossOriginResourcePolicy] = isForEveryPage ? "cross-origin" : "same-origin"
        if isForEveryPage { headers[.accessControlAllowOrigin] = "*" }
        return headers
    }

    /// Allows no external source, no inline code and no enclosing frame. So a name or an error text that was inserted
    /// into the page as markup would have no effect (Content Security Policy Level 3).
    private static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
}

extension DashboardFile {
    static let page = all["index.html"]!

    /// The files that the page loads, by name. `DashboardFileTests` compares the list with the folder.
    static let named = all.filter { $0.key != page.name }

    private static let all: [String: Self] = {
        var count = 0
        let files = UnsafeBufferPointer(start: embedded_dashboard_files(&count), count: count)
        return Dictionary(uniqueKeysWithValues: files.map { (String(cString: $0.name), Self($0)) })
    }()

    /// A page of any origin may load it. What the page may do with it, `OriginRule` decides.
    static let client = Self(embedded_client_module(), isForEveryPage: true)

    private init(_ file: EmbeddedFile, isForEveryPage: Bool = false) {
        self.init(String(cString: file.name), file.content, isForEveryPage: isForEveryPage)
    }
}

extension EmbeddedFile {
    var content: [UInt8] { [UInt8](UnsafeBufferPointer(start: bytes, count: count)) }
}
