import Formats
import Lists

extension MetalinkFile {
    /// - Throws: aria2's error for what is no Metalink, and another one for a file that cannot be downloaded.
    static func forAria2(in document: [UInt8]) throws(RPCError) -> [MetalinkFile] {
        do throws(Fault) {
            return try files(in: document)
        } catch {
            throw RPCError(
                error.fault.isFatal
                    ? "Could not parse Metalink XML document." : "Line \(error.line): \(error.fault.reason)")
        }
    }

    /// Options that concern one file are those of the document.
    func options(besides given: JSONObject) -> JSONObject {
        var options = given
        options["gid"] = nil
        options["out"] = path.map { .string($0) }
        options["checksum"] = checksum.map { .string("\($0.algorithm.rawValue)=\($0.value)") }
        return options
    }
}
