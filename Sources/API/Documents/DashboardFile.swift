import CEmbeddedFiles
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
    static let page = all["index.html"]!

    /// The files that the page loads, by name. `DashboardFileTests` compares the list with the folder.
    static let named = all.filter { $0.key != page.name }

    private static let all: [String: Self] = {
        var count = 0
        let files = UnsafeBufferPointer(start: embedded_dashboard_files(&count), count: count)
        return Dictionary(uniqueKeysWithValues: files.map { (String(cString: $0.name), Self($0)) })
    }()

    private init(_ file: EmbeddedFile) { self.init(String(cString: file.name), file.content) }
}

extension EmbeddedFile {
    var content: [UInt8] { [UInt8](UnsafeBufferPointer(start: bytes, count: count)) }
}
