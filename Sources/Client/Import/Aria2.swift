import Base
import Formats
import Foundation

struct Aria2Conversion: Sendable {
    /// The `dir` that stands for fetchd's downloads folder; nil: the parent that all entries have in common is not guessed,
    /// and every `dir` is left out.
    var base: String?
    var session: String?

    /// The job, and what could not be taken over.
    struct Result: Sendable {
        var job: ImportedJob
        var unknown: [String] = []
        var remarks: [String] = []
    }

    func job(_ entry: Aria2Entry) throws(ImportFault) -> Result {
        let urls = entry.uris.filter { Self.isHTTP($0) }
        guard let first = urls.first else { throw ImportFault(reason: Self.refusal(of: entry.uris)) }
        var body = JSONObject()
        if urls.count == 1 { body["url"] = .string(first) } else { body["urls"] = .strings(Array(urls.prefix(16))) }
        if let session { body["session"] = .string(session) }
        let origin = "aria2:" + (entry["gid"] ?? "\(first) \(entry["out"] ?? "")")
        var result = Result(job: ImportedJob(place: "line \(entry.line)", origin: origin, body: body))
        if urls.count < entry.uris.count {
            result.remarks.append("\(entry.uris.count - urls.count) addresses that are not http or https are left out.")
        }
        if urls.count > 16 { result.remarks.append("\(urls.count - 16) mirrors are left out; a job has at most 16.") }
        for option in entry.options { apply(option, to: &result) }
        setDestination(entry, &result)
        setHeaders(entry, &result)
        return result
    }

    private static func isHTTP(_ uri: String) -> Bool {
        let scheme = uri.prefix { $0 != ":" }.lowercased()
        return scheme == "http" || scheme == "https"
    }

    private static func refusal(of uris: [String]) -> String {
        let uri = uris.first ?? ""
        if uri.hasPrefix("magnet:") { return "It is a BitTorrent download, which fetchd does not have." }
        guard uri.contains("://") else { return "\(Printable(uri)) is a local file (a torrent or metalink)." }
        return "fetchd downloads over http and https only, not \(Printable(uri.prefix { $0 != ":" }.description))."
    }

    // MARK: Options with one counterpart

    private func apply(_ option: Aria2Entry.Option, to result: inout Result) {
        let value = option.value
        switch option.name {
        case "dir", "out", "header", "referer", "user-agent", "gid", "http-user", "http-passwd": break
        case "pause": result.job.isPaused = value == "true"
        case "split": result.job.body["connections"] = Int64(value).map { .integer(min(max($0, 1), 16)) }
        case "max-download-limit": result.setRate(value)
        case "checksum": result.setChecksum(value)
        case "allow-overwrite": if value == "true" { result.setDestination("on_conflict", "replace") }
        case "timeout": result.setTimeout("request_seconds", value)
        case "connect-timeout": result.setTimeout("connect_seconds", value)
        case "max-tries":
            if let tries = Int64(value), tries > 0 {
                result.set("max_attempts", in: "retry", to: .integer(min(tries, 1000)))
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
                result.remarks.append("The name \(Printable(name)) has braces, which become parentheses.")
                name = name.replacing("{", with: "(").replacing("}", with: ")")
            }
            result.setDestination("filename", name)
        }
        if !folders.isEmpty { result.setDestination("directory", folders.joined(separator: "/")) }
    }

    private func folder(_ path: String?, _ result: inout Result) -> [String] {
        guard let path else { return [] }
        guard let base else {
            result.remarks.append("Its folder \(Printable(path)) is left out. See --base.")
            return []
        }
        let parts = Self.components(path)
        let above = Self.components(base)
        guard parts.starts(with: above) else {
            result.remarks.append("Its folder \(Printable(path)) is not below \(Printable(base)), and is left out.")
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
        if !headers.isEmpty { result.job.body["headers"] = .object(headers) }
        guard let user = entry["http-user"] else { return }
        result.job.body["credentials"] = [
            "type": "basic", "username": .string(user), "password": .string(entry["http-passwd"] ?? ""),
        ]
    }
}

extension Aria2Conversion.Result {
    fileprivate mutating func set(_ name: String, in member: String, to value: JSON) {
        var object = job.body[member]?.objectValue ?? JSONObject()
        object[name] = value
        job.body[member] = .object(object)
    }

    fileprivate mutating func setDestination(_ name: String, _ value: String) {
        set(name, in: "destination", to: .string(value))
    }

    fileprivate mutating func setTimeout(_ name: String, _ value: String) {
        if let seconds = Double(value), seconds > 0 { set(name, in: "timeouts", to: .number(seconds)) }
    }

    /// `100K`, `2M` or a number of bytes a second; 0 is no limit.
    fileprivate mutating func setRate(_ value: String) {
        guard let rate = Aria2Size.bytes(value) else {
            return remarks.append("Its max-download-limit \(Printable(value)) is no size, and is left out.")
        }
        if rate > 0 { job.body["rate_limit_bytes_per_second"] = .integer(rate) }
    }

    /// `sha-256=HEX`
    fileprivate mutating func setChecksum(_ value: String) {
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, ["sha-256", "sha-512", "sha-1", "md5"].contains(parts[0]) else {
            return remarks.append("Its checksum is of a kind that fetchd does not have, and is left out.")
        }
        job.body["checksum"] = ["algorithm": .string(parts[0]), "value": .string(parts[1])]
    }
}

/// One download of a session file of aria2 (`--save-session`, aria2c(1), "Input File").
struct Aria2Entry: Sendable, Equatable {
    var line: Int
    /// Mirrors of one file.
    var uris: [String]
    /// Each option in its order; `header` and some others can be repeated.
    var options: [Option]

    struct Option: Sendable, Equatable {
        var name: String
        var value: String
    }

    subscript(name: String) -> String? { options.last { $0.name == name }?.value }

    /// Reads a session file: URIs on one line, separated by tabs, and their options on the indented lines below.
    ///
    /// - Returns: the entries, and the numbers of lines that are none of these.
    static func read(_ text: String) -> (entries: [Aria2Entry], strayLines: [Int]) {
        var entries: [Aria2Entry] = []
        var stray: [Int] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let isOption = line.first == " " || line.first == "\t"
            let content = line.drop { $0 == " " || $0 == "\t" }
            if content.isEmpty || (!isOption && content.hasPrefix("#")) { continue }
            if !isOption {
                let uris = line.split(separator: "\t").map { String($0).trimmed }.filter { !$0.isEmpty }
                entries.append(Aria2Entry(line: index + 1, uris: uris, options: []))
            } else if let option = Option(content), !entries.isEmpty {
                entries[entries.count - 1].options.append(option)
            } else {
                stray.append(index + 1)
            }
        }
        return (entries, stray)
    }
}

extension Aria2Entry.Option {
    /// nil for a line without `=`.
    init?(_ line: Substring) {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        self.init(name: String(line[..<equals]).trimmed, value: String(line[line.index(after: equals)...]).trimmed)
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

/// The bytes of a session file, decompressed if its name ends in `.gz`, as aria2 does it.
enum Aria2SessionFile {
    /// Bytes of text. A session of a million downloads has less.
    static let limit = 256 << 20

    static func text(of file: String) throws(ClientError) -> String {
        let bytes = try InputFile.bytes(of: file)
        let text = file.hasSuffix(".gz") ? try inflated(bytes, of: file) : bytes
        guard text.count <= limit else {
            throw .unreadable(Printable(file).description, "it has more than \(limit >> 20) MiB of text")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func inflated(_ bytes: [UInt8], of file: String) throws(ClientError) -> [UInt8] {
        let decoder = InflatingDecoder(.gzip)
        var text: [UInt8] = []
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(InflationError) in
                try decoder.decode(bytes) { piece in
                    text += piece
                    return text.count <= limit
                }
                if text.count <= limit { try decoder.finish() }
            }
        }
        if case .failure = result {
            throw .unreadable(Printable(file).description, "it is not in gzip format, or its end is missing")
        }
        return text
    }
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
