import Base
import CEmbeddedFiles
import HTTPServer
import HTTPTypes

/// `/`: the dashboard page, and the files that it loads from `/dashboard/{version}/`; and `/client.js`, which other pages load,
/// too. They need no token, because they contain no data of the service: the page requests its data from the API, with the token
/// that the user enters.
struct DashboardRoutes: Sendable {
    var routes: [Route] {
        [
            .constant("/", Dashboard.page), .constant("/client.js", Dashboard.client),
            Route(.get, "/dashboard/{version}/{file}", .open, immediate: { Self.answer(Self.named($0), $0) }) {
                context in
                guard let file = Self.named(context) else {
                    throw Problem(
                        .notFound, "This version of the dashboard has no such file. The dashboard begins at /.")
                }
                return file.response(to: context.head)
            },
        ]
    }

    private static func named(_ context: RequestContext) -> StaticResponse? {
        guard context.parameter("version") == Dashboard.version else { return nil }
        return Dashboard.files[context.parameter("file")]
    }

    private static func answer(_ file: StaticResponse?, _ context: RequestContext) -> Answer? {
        context.head.query == nil ? file?.answer(to: context.head) : nil
    }
}

/// The files of the dashboard, which are in `Sources/API/Dashboard`, and are embedded in the executable.
///
/// The page loads them from a folder whose name is a hash of all of them, so that browsers keep them without asking again, and
/// all files of a page are of one version.
enum Dashboard {
    /// 16 hexadecimal digits.
    static let version: String = {
        let names = embedded.keys.sorted()
        return hash(names.reduce(into: []) { $0 += Array($1.utf8) + [0] + (embedded[$1] ?? []) })
    }()

    static let page = file("index.html", pageOfVersion, caching: "no-cache")

    /// The files that the page loads, by name. `DashboardFileTests` compares the list with the folder.
    static let files = embedded.filter { $0.key != "index.html" }.reduce(into: [:]) { files, embedded in
        files[embedded.key] = file(embedded.key, embedded.value, caching: "public, max-age=31536000, immutable")
    }

    /// A page of any origin may load it. What the page may do with it, `OriginRule` decides.
    static let client = file("client.js", embedded["client.js"] ?? [], caching: "no-cache", isForEveryPage: true)

    private static let embedded: [String: [UInt8]] = {
        var count = 0
        let files = UnsafeBufferPointer(start: embedded_dashboard_files(&count), count: count)
        return Dictionary(uniqueKeysWithValues: files.map { (String(cString: $0.name), $0.content) })
    }()

    /// The page names its files by their places in the folder of this version. It names all modules, so that the browser loads
    /// them at once, and not one after another as they name each other.
    private static let pageOfVersion: [UInt8] = {
        let modules = embedded.keys.filter { $0.hasSuffix(".js") }.sorted()
        let links = modules.map { "<link rel=\"modulepreload\" href=\"dashboard/\($0)\">\n" }.joined()
        let text = String(decoding: embedded["index.html"] ?? [], as: UTF8.self)
        return Array(
            text.replacing("</head>", with: links + "</head>", maxReplacements: 1)
                .replacing("=\"dashboard/", with: "=\"dashboard/\(version)/").utf8)
    }()

    private static func hash(_ bytes: [UInt8]) -> String { HashFunction.sha256.hash(bytes).prefix(8).hexadecimal }

    private static func file(
        _ name: String, _ bytes: [UInt8], caching: String, isForEveryPage: Bool = false
    ) -> StaticResponse {
        var headers: HTTPFields = [
            .eTag: "\"\(hash(bytes))\"", .cacheControl: caching, .contentType: type(of: name),
            .contentSecurityPolicy: contentSecurityPolicy, .xContentTypeOptions: "nosniff",
        ]
        headers[.referrerPolicy] = "no-referrer"
        headers[.crossOriginResourcePolicy] = isForEveryPage ? "cross-origin" : "same-origin"
        if isForEveryPage { headers[.accessControlAllowOrigin] = "*" }
        return StaticResponse(Response(status: .ok, headers: headers, body: .bytes(bytes)))
    }

    /// The media type. Browsers require the right type for modules and style sheets.
    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }

    /// Allows no external source, no inline code and no enclosing frame. So a name or an error text that was inserted
    /// into the page as markup would have no effect (Content Security Policy Level 3).
    private static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")
}

extension EmbeddedFile {
    var content: [UInt8] { [UInt8](UnsafeBufferPointer(start: bytes, count: count)) }
}
