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
    init(_ object: JSONObject) {
        var (values, ignored): ([DownloadOption: [String]], [String]) = ([:], [])
        for (name, value) in object.members {
            guard let option = DownloadOption(rawValue: name) else {
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

    var isEmpty: Bool { values.isEmpty }

    func has(_ option: DownloadOption) -> Bool { values[option] != nil }
    func text(_ option: DownloadOption) -> String? { values[option]?.last }
    func texts(_ option: DownloadOption) -> [String] { values[option] ?? [] }

    // MARK: Values

    func problem(_ option: DownloadOption, _ why: String? = nil) -> RPCError {
        let sentence = "We encountered a problem while processing the option '--\(option.rawValue)'."
        return RPCError(why.map { "\(sentence) \($0)" } ?? sentence)
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
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), range.contains(number)
        else {
            throw problem(option, "It takes a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Bytes per second; `.some(nil)` for 0, which means no limit.
    func rate(_ option: DownloadOption) throws(RPCError) -> Int64?? {
        guard let text = text(option) else { return nil }
        guard let bytes = SizeText.bytes(text), bytes <= 1 << 40 else {
            throw problem(option, "It takes bytes per second, such as 200K or 1M; 0 means no limit.")
        }
        return .some(bytes == 0 ? nil : bytes)
    }

    var gid: GID? {
        get throws(RPCError) {
            guard let text = text(.gid) else { return nil }
            guard let gid = GID(text) else { throw RPCError("Invalid GID \(text)") }
            return gid
        }
    }

    var isPaused: Bool {
        get throws(RPCError) { try bool(.pause) ?? false }
    }

    // MARK: URIs

    /// The URIs without repetitions, and without empty ones.
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
