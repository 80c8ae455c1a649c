import Formats
import Lists

/// A file of a Metalink document, as aria2's options say it.
struct MetalinkFile {
    let urls: [String]
    /// In bytes; nil: the document does not say it.
    let size: Int64?
    private let path: String?
    /// `sha-256=DIGITS`
    private let checksum: String?

    /// - Throws: aria2's error for what is no Metalink, and another one for a file that cannot be downloaded.
    static func files(in document: [UInt8]) throws(RPCError) -> [MetalinkFile] {
        var reader = ListReader(.metalink)
        var files: [MetalinkFile] = []
        for entry in reader.read(document) + reader.finish() {
            switch entry.job {
            case .success(let job): files.append(MetalinkFile(job))
            case .failure(let fault) where !fault.isFatal: throw RPCError("Line \(entry.line): \(fault.reason)")
            case .failure: throw RPCError("Could not parse Metalink XML document.")
            }
        }
        return files
    }

    private init(_ job: JSONObject) {
        urls = job["urls"]?.arrayValue?.compactMap(\.stringValue) ?? [job["url"]?.stringValue].compactMap(\.self)
        size = job["expected_size"]?.integerValue
        let destination = job["destination"]?.objectValue ?? [:]
        let folder = destination["directory"]?.stringValue.map { "\($0)/" } ?? ""
        path = destination["filename"]?.stringValue.map { folder + $0 }
        let sum = job["checksum"]?.objectValue ?? [:]
        checksum = sum["algorithm"]?.stringValue.flatMap { name in sum["value"]?.stringValue.map { "\(name)=\($0)" } }
    }

    /// Options that concern one file are those of the document.
    func options(besides given: JSONObject) -> JSONObject {
        var options = given
        options["gid"] = nil
        options["out"] = path.map { .string($0) }
        options["checksum"] = checksum.map { .string($0) }
        return options
    }
}
