import Downloads
import Formats
import Foundation
import HTTPSemantics

/// The options of a download, as a client sends them. Unknown options have no effect.
struct DownloadOptions {
    private let values: [DownloadOption: [String]]
    /// The names of the other options, as far as they are names.
    let ignoredNames: [String]

    /// Values are strings; `header` may be an array of strings. aria2 ignores values of other types.
    ///
    /// - Parameter isGlobal: whether they are those of `aria2.changeGlobalOption`.
    init(_ object: JSONObject, isGlobal: Bool = false) {
        var (values, ignored): ([DownloadOption: [String]], [String]) = ([:], [])
        for (name, value) in object.members {
            guard let option = DownloadOption(rawValue: name), isGlobal || !option.isGlobal else {
                ignored.append(name)
                continue
            }
            if let text = value.stringValue {
                values[option] = option == .header ? text.split(separator: "\n").map(String.init) : [text]
            } else if option == .header, let texts = value.arrayValue {
                values[option] = texts.compactMap(\.stringValue)
            }
        }
        self.values = values
        let isName = { (name: String) in name.utf8.count <= 64 && name.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        ignoredNames = Array(ignored.filter(isName).prefix(32))
    }

    func has(_ option: DownloadOption) -> Bool { values[option] != nil }
    func text(_ option: DownloadOption) -> String? { values[option]?.last }
    func texts(_ option: DownloadOption) -> [String] { values[option] ?? [] }

    func problem(_ option: DownloadOption, _ why: String) -> RPCError {
        RPCError("We encountered a problem while processing the option '--\(option.rawValue)'. \(why)")
    }

    func bool(_ option: DownloadOption) throws(RPCError) -> Bool? {
        switch text(option) {
        case nil: nil
        // As in aria2, an empty value is true.
        case "true"?, ""?: true
        case "false"?: false
        case _?: throw problem(option, "It takes true or false.")
        }
    }

    func integer(_ option: DownloadOption, in range: ClosedRange<Int>) throws(RPCError) -> Int? {
        guard let text = text(option) else { return nil }
        guard text.utf8.allSatisfy(\.isASCIIDigit), let number = Int(text), range.contains(number) else {
            throw problem(option, "It takes a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Bytes per second; 0 means no limit.
    func rate(_ option: DownloadOption) throws(RPCError) -> Int64? {
        guard let text = text(option) else { return nil }
        guard let bytes = SizeText.bytes(text), bytes <= 1 << 40 else {
            let zero = option.isGlobal ? "" : "; 0 means no limit"
            throw problem(option, "It takes bytes per second, such as 200K or 1M\(zero).")
        }
        return bytes
    }

    var gid: GID? {
        get throws(RPCError) {
            guard let text = text(.gid) else { return nil }
            guard let gid = GID(text) else { throw RPCError("Invalid GID \(text)") }
            return gid
        }
    }

    var isPaused: Bool { get throws(RPCError) { try bool(.pause) ?? false } }

    static func distinct(_ uris: [String]) -> [String] {
        var known: Set<String> = []
        return uris.map(normalized).filter { !$0.isEmpty && known.insert($0).inserted }
    }

    static func fault(in uri: String, allowsRehearsals: Bool) -> String? {
        guard Rehearsal.isRehearsal(uri) else { return URLRule.fault(in: uri) }
        return allowsRehearsals ? Rehearsal.fault(in: uri) : "is a rehearsal; start fetchd with --enable-rehearsals"
    }

    /// As in aria2, white space around a URI does not count, and a space in it becomes `%20`.
    private static func normalized(_ uri: String) -> String {
        let uri = uri.trimmingCharacters(in: .whitespacesAndNewlines).replacing(" ", with: "%20")
        return Rehearsal.isRehearsal(uri) ? uri : URLRule.normalized(uri)
    }
}

enum DownloadOption: String, CaseIterable {
    case checksum, dir, gid, header, out, pause, referer, split, timeout
    case allProxy = "all-proxy"
    case allowOverwrite = "allow-overwrite"
    case autoFileRenaming = "auto-file-renaming"
    case connectTimeout = "connect-timeout"
    case dryRun = "dry-run"
    case httpPassword = "http-passwd"
    case httpProxy = "http-proxy"
    case httpsProxy = "https-proxy"
    case httpUser = "http-user"
    case maxConnectionPerServer = "max-connection-per-server"
    case maxDownloadLimit = "max-download-limit"
    case maxTries = "max-tries"
    case retryWait = "retry-wait"
    case userAgent = "user-agent"
    // Of the service.
    case maxConcurrentDownloads = "max-concurrent-downloads"
    case maxOverallDownloadLimit = "max-overall-download-limit"

    var isGlobal: Bool { self == .maxConcurrentDownloads || self == .maxOverallDownloadLimit }
}

/// A number of bytes in the form of aria2's options: `200K`, `1M` or `1048576`.
enum SizeText {
    static func bytes(_ text: String) -> Int64? {
        guard let last = text.utf8.last else { return nil }
        let (digits, unit): (Substring, Int64) =
            switch last {
            case UInt8(ascii: "K"), UInt8(ascii: "k"): (text.dropLast(), 1 << 10)
            case UInt8(ascii: "M"), UInt8(ascii: "m"): (text.dropLast(), 1 << 20)
            default: (text[...], 1)
            }
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit), let number = Int64(digits) else { return nil }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit)
        return overflows ? nil : bytes
    }
}

/// The folders and buckets of the locations, by which aria2's paths say where files go.
struct DownloadsRoot: Sendable {
    /// Absolute, or with `s3://`.
    let paths: [Name: String]

    /// The location with the longest folder that has this one, and the folder relative to it; empty for the folder itself.
    ///
    /// - Parameter dir: absolute, with `s3://`, or relative to the folder of the location that the download has anyway. Then it names none.
    /// - Throws: an error if no location has it.
    func place(_ dir: String) throws(RPCError) -> (location: Name?, directory: String) {
        var components = dir.split(separator: "/").filter { $0 != "." }[...]
        var location: Name?
        let isInBucket = dir.hasPrefix(Self.bucketScheme)
        if isInBucket || dir.utf8.first == UInt8(ascii: "/") {
            let owner = paths.filter { $0.value.hasPrefix(Self.bucketScheme) == isInBucket }
                .map { ($0.key, $0.value.split(separator: "/")) }
                .filter { components.starts(with: $0.1) }.max { $0.1.count < $1.1.count }
            guard let (name, own) = owner else {
                let folders = paths.values.sorted().joined(separator: ", ")
                throw RPCError("The dir '\(dir)' is not in the folder of a location: \(folders).")
            }
            components = components.dropFirst(own.count)
            // Without other locations, no download names the only one.
            if paths.count > 1 { location = name }
        }
        let relative = components.joined(separator: "/")
        if let fault = FilePathRule.fault(inDirectory: relative) { throw RPCError("The dir '\(dir)' \(fault).") }
        return (location, relative)
    }

    private static let bucketScheme = "s3://"

    /// - Parameter relative: with `/` between components; nil or empty for the folder of the location itself.
    func absolute(_ relative: String?, in location: Name?) -> String {
        let path = paths[location ?? .default] ?? paths[.default] ?? "/"
        guard let relative, !relative.isEmpty else { return path }
        return path == "/" ? "/" + relative : "\(path)/\(relative)"
    }
}
