import Foundation

extension Service {
    /// Copies a finished file from the service. It repeats the copy until it is complete.
    /// - Throws: `refused` if the service no longer has the file.
    func copy(fileOf job: String, size: Int64, to location: URL) async throws(FetchdError) {
        var backoff = Backoff()
        while true {
            do throws(FetchdError) {
                let answer = try await transport.download(
                    request("GET", "/v1/jobs/\(job)/file", headers: ["Accept-Encoding": "identity"]), to: location)
                guard answer.isSuccess else { throw answer.refusal }
                guard Self.size(of: location) == size else { throw FetchdError.unreachable("the file is not complete") }
                return
            } catch  where error.isTemporary {
                try await backoff.pause()
            }
        }
    }

    private static func size(of file: URL) -> Int64? {
        let size = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size]
        return (size as? NSNumber)?.int64Value
    }
}
