import Formats
import Foundation

/// `aria2`: an input file or session file (aria2c(1), "Input File"). An entry has its URIs on one line, separated by tabs, and its
/// options on the indented lines below.
struct Aria2Lines: LineFormat {
    private let conversion: Aria2Conversion
    private var entry: Aria2Entry?

    /// - Parameter base: the `dir` that stands for the downloads folder.
    init(base: String?) { conversion = Aria2Conversion(base: base) }

    mutating func read(_ line: String, at number: Int) -> [ListEntry] {
        switch Aria2Line(line) {
        case .comment: return []
        case .uris(let uris):
            defer { entry = Aria2Entry(line: number, uris: uris, options: []) }
            return finish()
        case .option(let option):
            guard let count = entry?.options.count else { return [Self.stray(number)] }
            guard count < Self.mostOptions else {
                return [ListEntry(line: number, ListFault("The entry has more than \(Self.mostOptions) options."))]
            }
            entry?.options.append(option)
            return []
        case .stray: return [Self.stray(number)]
        }
    }

    mutating func finish() -> [ListEntry] {
        guard let entry = entry.take() else { return [] }
        do throws(ListFault) {
            let result = try conversion.job(entry)
            var job = result.body
            if result.isPaused { job["state"] = "paused" }
            let unknown = result.unknown.map { "Its option \($0) has no counterpart, and is left out." }
            return [ListEntry(line: entry.line, job, remarks: result.remarks + unknown)]
        } catch {
            return [ListEntry(line: entry.line, error)]
        }
    }

    private static func stray(_ number: Int) -> ListEntry {
        ListEntry(line: number, ListFault("It is neither an address nor an option."))
    }

    private static let mostOptions = 256
}

public struct Aria2Conversion: Sendable {
    /// The `dir` that stands for fetchd's downloads folder; nil: the parent that all entries have in common is not guessed,
    /// and every `dir` is left out.
    var base: String?

    /// The job, and what could not be taken over.
    public struct Result: Sendable {
        /// The members of a request for a job.
        public var body: JSONObject
        public var isPaused = false
        /// Identifies the download in every file that has it.
        public var origin: String
        public var unknown: [String] = []
        public var remarks: [String] = []
    }

    public init(base: String?) { self.base = base }

    public func job(_ entry: Aria2Entry) throws(ListFault) -> Result {
        guard let mirrors = ListMirrors(entry.uris) else { throw ListFault(Self.refusal(of: entry.uris)) }
        let first = mirrors.job["url"]?.stringValue ?? mirrors.job["urls"]?.arrayValue?.first?.stringValue ?? ""
        let origin = "aria2:" + (entry["gid"] ?? "\(first) \(entry["out"] ?? "")")
        var result = Result(body: mirrors.job, origin: origin, remarks: mirrors.remarks)
        for option in entry.options { apply(option, to: &result) }
        setDestination(entry, &result)
        setHeaders(entry, &result)
        return result
    }

    private static func refusal(of uris: [String]) -> String {
        let uri = uris.first ?? ""
        if uri.hasPrefix("magnet:") { return "It is a BitTorrent download, which fetchd does not have." }
        guard uri.contains("://") else { return "\(uri) is a local file (a torrent or metalink)." }
        return "fetchd downloads over http and https only, not \(uri.prefix { $0 != ":" }.description)."
    }

    // MARK: Options with one counterpart

    private func apply(_ option: Aria2Entry.Option, to result: inout Result) {
        let value = option.value
        switch option.name {
        case "dir", "out", "header", "referer", "user-agent", "gid", "http-user", "http-passwd": break
        case "pause": result.isPaused = value == "true"
        case "split": result.body["connections"] = Int64(value).map { .integer(min(max($0, 1), 16)) }
        case "max-download-limit": result.setRate(value)
        case "checksum": result.setChecksum(value)
        case "allow-overwrite": if value == "true" { result.setDestination("on_conflict", "replace") }
        case "timeout": result.setTimeout("request_seconds", value)
        case "connect-timeout": result.setTimeout("connect_seconds", value)
        case "max-tries":
            if let tries = Int64(value), tries > 0 {
                result.body.set("max_attempts", in: "retry", to: .integer(min(tries, 1000)))
            }
        case "continue", "auto-file-renaming", "always-resume", "allow-piece-length-change", "file-allocation",
            "save-not-found", "force-save", "remote-time", "min-split-size", "max-connection-per-server",
            "piece-length", "stream-piece-selector", "uri-selector", "parameterized-uri", "enable-http-pipelining",
            "enable-http-keep-alive", "http-accept-gzip", "no-netrc", "async-dns", "use-head", "conditional-get":
            // fetchd does this by itself, or does not need it.
            break
        default: if !result.unknown.contains(option.name) { result.unknown.append(option.name) }
        }
    }

    // MARK: The destination

    private func setDestination(_ entry: Aria2Entry, _ result: inout Result) {
        var folders = folder(entry["dir"], &result)
        var name = entry["out"] ?? ""
        // aria2 allows folders in `out`.
        let parts = name.split(separator: "/").filter { $0 != "." }.map(String.init)
        if parts.count > 1 {
            folders += parts.dropLast()
            name = parts[parts.count - 1]
        }
        if !name.isEmpty {
            // Braces have a meaning in fetchd's names.
            if name.contains("{") || name.contains("}") {
                result.remarks.append("The name \(name) has braces, which become parentheses.")
                name = name.replacing("{", with: "(").replacing("}", with: ")")
            }
            result.setDestination("filename", name)
        }
        if !folders.isEmpty { result.setDestination("directory", folders.joined(separator: "/")) }
    }

    private func folder(_ path: String?, _ result: inout Result) -> [String] {
        guard let path else { return [] }
        guard let base else {
            result.remarks.append("Its folder \(path) is left out. See --base.")
            return []
        }
        let parts = Self.components(path)
        let above = Self.components(base)
        guard parts.starts(with: above) else {
            result.remarks.append("Its folder \(path) is not below \(base), and is left out.")
            return []
        }
        return Array(parts.dropFirst(above.count))
    }

    private static func components(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    // MARK: Headers and credentials

    private func setHeaders(_ entry: Aria2Entry, _ result: inout Result) {
        var headers = JSONObject()
        if let referer = entry["referer"], referer != "*" { headers["Referer"] = .string(referer) }
        if let agent = entry["user-agent"] { headers["User-Agent"] = .string(agent) }
        for option in entry.options where option.name == "header" {
            guard let colon = option.value.firstIndex(of: ":") else {
                result.remarks.append("A header without a colon is left out.")
                continue
            }
            let value = option.value[option.value.index(after: colon)...].drop { $0 == " " }
            headers[String(option.value[..<colon])] = .string(String(value))
        }
        if !headers.isEmpty { result.body["headers"] = .object(headers) }
        guard let user = entry["http-user"] else { return }
        result.body["credentials"] = [
            "type": "basic", "username": .string(user), "password": .string(entry["http-passwd"] ?? ""),
        ]
    }
}

extension Aria2Conversion.Result {
    fileprivate mutating func setDestination(_ name: String, _ value: String) {
        body.set(name, in: "destination", to: .string(value))
    }

    fileprivate mutating func setTimeout(_ name: String, _ value: String) {
        if let seconds = Double(value), seconds > 0 { body.set(name, in: "timeouts", to: .number(seconds)) }
    }

    /// `100K`, `2M` or a number of bytes a second; 0 is no limit.
    fileprivate mutating func setRate(_ value: String) {
        guard let rate = Aria2Size.bytes(value) else {
            return remarks.append("Its max-download-limit \(value) is no size, and is left out.")
        }
        if rate > 0 { body["rate_limit_bytes_per_second"] = .integer(rate) }
    }

    /// `sha-256=HEX`
    fileprivate mutating func setChecksum(_ value: String) {
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, ["sha-256", "sha-512", "sha-1", "md5"].contains(parts[0]) else {
            return remarks.append("Its checksum is of a kind that fetchd does not have, and is left out.")
        }
        body["checksum"] = ["algorithm": .string(parts[0]), "value": .string(parts[1])]
    }
}

/// One download of a file of aria2.
public struct Aria2Entry: Sendable, Equatable {
    public var line: Int
    /// Mirrors of one file.
    public var uris: [String]
    /// Each option in its order; `header` and some others can be repeated.
    public var options: [Option]

    public struct Option: Sendable, Equatable {
        var name: String
        var value: String
    }

    subscript(name: String) -> String? { options.last { $0.name == name }?.value }

    /// Reads a whole file.
    ///
    /// - Returns: the entries, and the numbers of lines that belong to none.
    public static func read(_ text: String) -> (entries: [Aria2Entry], strayLines: [Int]) {
        var entries: [Aria2Entry] = []
        var stray: [Int] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            switch Aria2Line(String(line)) {
            case .comment: break
            case .uris(let uris): entries.append(Aria2Entry(line: index + 1, uris: uris, options: []))
            case .option(let option) where !entries.isEmpty: entries[entries.count - 1].options.append(option)
            case .option, .stray: stray.append(index + 1)
            }
        }
        return (entries, stray)
    }
}

private enum Aria2Line {
    case comment
    case uris([String])
    case option(Aria2Entry.Option)
    case stray

    init(_ line: String) {
        let isOption = line.first == " " || line.first == "\t"
        let content = line.trimmed
        if content.isEmpty || (!isOption && content.hasPrefix("#")) {
            self = .comment
        } else if isOption {
            self = Aria2Entry.Option(content).map { .option($0) } ?? .stray
        } else {
            self = .uris(line.split(separator: "\t").map { String($0).trimmed }.filter { !$0.isEmpty })
        }
    }
}

extension Aria2Entry.Option {
    /// nil for a line without `=`.
    fileprivate init?(_ line: String) {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        self.init(name: String(line[..<equals]).trimmed, value: String(line[line.index(after: equals)...]).trimmed)
    }
}

extension String {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

/// A size as aria2 writes it: a number of bytes, or with K (1024) or M (1024 K).
enum Aria2Size {
    /// nil for any other text, and for a size that a number of 64 bits cannot hold.
    static func bytes(_ text: String) -> Int64? {
        let unit: Int64 =
            switch text.last {
            case "K", "k": 1024
            case "M", "m": 1024 * 1024
            case _: 1
            }
        guard let number = Int64(unit == 1 ? text[...] : text.dropLast()), number >= 0 else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit)
        return isTooLarge ? nil : bytes
    }
}
