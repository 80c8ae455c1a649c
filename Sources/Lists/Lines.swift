import Formats
import HTTPSemantics

/// `ndjson`: each line has the object that `POST /v1/jobs` takes.
struct JSONLines: LineFormat {
    func read(_ line: String, at number: Int) -> [ListEntry] {
        do throws(JSONFault) {
            guard let job = try JSON(parsing: Array(line.utf8)).objectValue else {
                return [ListEntry(line: number, ListFault("The line must be an object."))]
            }
            return [ListEntry(line: number, job)]
        } catch {
            return [ListEntry(line: number, ListFault("The line is not well-formed JSON. \(error)."))]
        }
    }
}

/// `urls`: each line is a URL, or a comment that begins with `#`.
struct URLLines: LineFormat {
    let base: BaseURL

    func read(_ line: String, at number: Int) -> [ListEntry] {
        let value = line.trimmedBlanks
        return value.hasPrefix("#") ? [] : [ListEntry(line: number, ["url": .string(base.url(value))])]
    }
}

/// `sha256sum`: `DIGEST  NAME`, `DIGEST *NAME`, or `SHA256 (NAME) = DIGEST`. The length of the digest tells its algorithm. A line
/// that begins with a backslash has a name with escapes (GNU coreutils). The URL is the name below the base.
struct DigestLines: LineFormat {
    let base: BaseURL

    func read(_ line: String, at number: Int) -> [ListEntry] {
        if line.hasPrefix("#") { return [] }
        guard let digest = DigestLine(line), let checksum = ListChecksum.of(digest) else {
            return [
                ListEntry(
                    line: number, ListFault("The line must have a digest and a file name, as sha256sum writes it."))
            ]
        }
        guard let path = ListPath(digest.name) else {
            return [ListEntry(line: number, ListFault("The name '\(digest.name)' is not a path below a folder."))]
        }
        var job: JSONObject = ["url": .string(base.url(path.encoded)), "checksum": checksum]
        job["destination"] = path.destination
        return [ListEntry(line: number, job)]
    }
}

/// A digest of a list, as the member `checksum` of a job.
enum ListChecksum {
    static func of(_ line: DigestLine) -> JSON? { line.tag.map { of(line.digits, algorithm: $0) } ?? of(line.digits) }

    /// The digits alone tell the algorithm by their number.
    static func of(_ digits: String) -> JSON? { Checksum.Algorithm(digits: digits.utf8.count).map { json($0, digits) } }

    /// `sha-256:DIGITS`, `sha-256=DIGITS`, or the digits alone; nil for any other text.
    static func named(_ text: String) -> JSON? {
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return of(text) }
        return of(String(text[text.index(after: separator)...]), algorithm: String(text[..<separator]))
    }

    /// - Parameter algorithm: in any spelling: `SHA256`, `sha-256`.
    static func of(_ digits: String, algorithm: String) -> JSON? {
        Checksum.Algorithm(named: algorithm).map { json($0, digits) }
    }

    private static func json(_ algorithm: Checksum.Algorithm, _ digits: String) -> JSON {
        ["algorithm": .string(algorithm.rawValue), "value": .string(digits.lowercased())]
    }
}

/// A relative path in a list: folders and a name.
struct ListPath {
    private let components: [String]

    /// nil for a path that names no file below a folder.
    init?(_ text: String) {
        guard !text.hasPrefix("/"), !text.hasSuffix("/") else { return nil }
        components = text.split(separator: "/").filter { $0 != "." }.map(String.init)
        guard !components.isEmpty, !components.contains("..") else { return nil }
    }

    /// The path as the end of a URL.
    var encoded: String { components.map(\.percentEncodedComponent).joined(separator: "/") }

    /// Braces have a meaning in the names of jobs, so a name with one is left to the server.
    var destination: JSON? {
        var destination = JSONObject()
        if components.count > 1 { destination["directory"] = .string(components.dropLast().joined(separator: "/")) }
        if let name = components.last, !name.contains(where: { $0 == "{" || $0 == "}" }) {
            destination["filename"] = .string(name)
        }
        return destination.isEmpty ? nil : .object(destination)
    }
}

/// The addresses of one file, as the members of a job, and what was left out.
struct ListMirrors {
    private(set) var job: JSONObject
    private(set) var remarks: [String] = []

    /// nil if no address has http or https.
    init?(_ all: [String]) {
        let urls = all.filter { ["http", "https"].contains($0.prefix { $0 != ":" }.lowercased()) }
        guard let first = urls.first else { return nil }
        job = urls.count == 1 ? ["url": .string(first)] : ["urls": .strings(Array(urls.prefix(Self.most)))]
        if urls.count < all.count {
            remarks.append("\(all.count - urls.count) addresses that are not http or https are left out.")
        }
        if urls.count > Self.most {
            remarks.append("\(urls.count - Self.most) mirrors are left out; a job has at most \(Self.most).")
        }
    }

    private static let most = 16
}

extension JSONObject {
    /// Sets a member of the object that is a member of this one.
    mutating func set(_ name: String, in member: String, to value: JSON) {
        var object = self[member]?.objectValue ?? JSONObject()
        object[name] = value
        self[member] = .object(object)
    }
}

extension Substring {
    /// Compares bytes, because that is several times as fast as characters.
    var trimmedBlanks: String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(self[first...last])
    }
}

extension String {
    var trimmedBlanks: String { self[...].trimmedBlanks }

    /// All but the unreserved characters of RFC 3986, section 2.3, are encoded.
    var percentEncodedComponent: String {
        var result: [UInt8] = []
        for byte in utf8 {
            if byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte) {
                result.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
