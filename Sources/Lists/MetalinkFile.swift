import Formats
import Foundation
import HTTPSemantics

/// A file of a Metalink document.
public struct MetalinkFile: Sendable, Equatable {
    /// The best first.
    public let urls: [String]
    /// In bytes; nil: the document does not say it.
    public let size: Int64?
    /// Below a folder; nil: the document has no name that a job could have.
    public let path: String?
    /// The strongest of the file.
    public let checksum: Checksum?
    public let pieces: PieceDigests?

    public struct Fault: Error, Sendable {
        public let line: Int
        public let fault: ListFault
    }

    /// - Throws: the first fault of the document.
    public static func files(in document: [UInt8]) throws(Fault) -> [MetalinkFile] {
        var reader = ListReader(.metalink)
        var files: [MetalinkFile] = []
        for entry in reader.read(document) + reader.finish() {
            switch entry.job {
            case .success(let job): files.append(MetalinkFile(job))
            case .failure(let fault): throw Fault(line: entry.line, fault: fault)
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
        checksum = sum["algorithm"]?.stringValue.flatMap(Checksum.Algorithm.init).flatMap { algorithm in
            sum["value"]?.stringValue.flatMap { Checksum(algorithm, hexadecimal: $0) }
        }
        pieces = job["pieces"]?.objectValue.flatMap { pieces in
            guard let algorithm = pieces["algorithm"]?.stringValue.flatMap(Checksum.Algorithm.init),
                let length = pieces["length"]?.integerValue,
                let digests = pieces["digests"]?.stringValue.flatMap({ Data(base64Encoded: $0) })
            else { return nil }
            return PieceDigests(algorithm, length: length, digests: digests)
        }
    }
}
