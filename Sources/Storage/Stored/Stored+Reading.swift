import Downloads
import Formats
import Foundation

/// Reads specifications and finishes. A page of the list reads a hundred of each, and Foundation's decoder takes 20 µs or
/// more for one. A text with a member that is not listed here goes to that decoder.
extension Stored {
    static func spec(from text: String) throws -> JobSpec {
        let stored = try JSON(parsing: Array(text.utf8)).objectValue?.members ?? []
        guard let spec = commonSpec(stored) else { return try value(JobSpec.self, from: text) }
        return spec
    }

    static func finish(from text: String) throws -> Finish {
        let stored = try JSON(parsing: Array(text.utf8)).objectValue
        guard let file = stored?["file"]?.objectValue.flatMap(FinishedFile.init(stored:)),
            let receipt = stored?["receipt"]?.objectValue.flatMap(Receipt.init(stored:))
        else { return try value(Finish.self, from: text) }
        return Finish(file: file, receipt: receipt)
    }

    /// nil if the specification has a member that few specifications have.
    private static func commonSpec(_ stored: [(name: String, value: JSON)]) -> JobSpec? {
        var spec = JobSpec(url: "")
        for member in stored {
            switch (member.name, member.value) {
            case ("url", .string(let url)): spec.url = url
            case ("destination", .object(let destination)):
                guard let destination = Destination(stored: destination) else { return nil }
                spec.destination = destination
            case ("priority", .string(let name)):
                guard let priority = Priority(rawValue: name) else { return nil }
                spec.priority = priority
            case ("digest", .string(let name)):
                guard let digest = Digest(rawValue: name) else { return nil }
                spec.digest = digest
            case ("connections", .integer(let connections)): spec.connections = Int(connections)
            case ("expectedSize", .integer(let size)): spec.expectedSize = size
            case ("notBefore", let date):
                spec.notBefore = date.numberValue.map(Date.init(timeIntervalSinceReferenceDate:))
            case ("tags", .array(let tags)): spec.tags = tags.compactMap(\.stringValue)
            default: return nil
            }
        }
        return spec
    }
}

extension Destination {
    fileprivate init?(stored: JSONObject) {
        self.init(directory: stored["directory"]?.stringValue, filename: stored["filename"]?.stringValue)
        if let name = stored["onConflict"]?.stringValue {
            guard let conflict = Conflict(rawValue: name) else { return nil }
            onConflict = conflict
        }
        createDirectories = stored["createDirectories"]?.boolValue ?? true
    }
}

extension FinishedFile {
    fileprivate init?(stored: JSONObject) {
        guard let path = stored["path"]?.stringValue, let size = stored["size"]?.integerValue else { return nil }
        var mark: FileMark?
        if let object = stored["mark"]?.objectValue {
            guard let inode = object["inode"]?.integerValue, inode >= 0, let modified = object["modified"]?.integerValue
            else { return nil }
            mark = FileMark(inode: UInt64(inode), born: object["born"]?.integerValue, modified: modified)
        }
        self.init(
            path: path, size: size, sha256: stored["sha256"]?.stringValue,
            contentType: stored["contentType"]?.stringValue, mark: mark)
    }
}

extension Receipt {
    fileprivate init?(stored: JSONObject) {
        // Few receipts have a coding.
        guard stored["coding"] == nil, let finalURL = stored["finalURL"]?.stringValue,
            let redirects = stored["redirects"]?.arrayValue,
            let status = stored["status"]?.integerValue, let networkProtocol = stored["networkProtocol"]?.stringValue,
            let lengthVerified = stored["lengthVerified"]?.boolValue, let attempts = stored["attempts"]?.integerValue,
            let timings = stored["timings"]?.objectValue.flatMap(Timings.init(stored:))
        else { return nil }
        self.init(
            finalURL: finalURL, redirects: redirects.compactMap(\.stringValue), status: Int(status),
            etag: stored["etag"]?.stringValue, lastModified: stored["lastModified"]?.stringValue,
            remoteAddress: stored["remoteAddress"]?.stringValue, networkProtocol: networkProtocol,
            lengthVerified: lengthVerified, attempts: Int(attempts), timings: timings)
    }
}

extension Receipt.Timings {
    fileprivate init?(stored: JSONObject) {
        guard let connect = stored["connect"]?.numberValue, let firstByte = stored["firstByte"]?.numberValue,
            let transfer = stored["transfer"]?.numberValue, let total = stored["total"]?.numberValue
        else { return nil }
        self.init(connect: connect, firstByte: firstByte, transfer: transfer, total: total)
    }
}
