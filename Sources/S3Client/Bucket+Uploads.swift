import Formats
import Foundation

/// Uploads in parts.
extension Bucket {
    public struct Upload: Sendable, Hashable {
        public var key: String
        public var id: String

        public init(key: String, id: String) {
            self.key = key
            self.id = id
        }
    }

    public struct UploadedPart: Sendable, Equatable {
        /// 1 to 10,000.
        public var number: Int
        public var etag: String

        public init(number: Int, etag: String) {
            self.number = number
            self.etag = etag
        }
    }

    /// - Parameter headers: those of the object, such as its type and its metadata.
    public func createUpload(
        of key: String, headers: [StorageRequest.Field] = []
    ) async throws(StorageError) -> Upload {
        let answer = try await send(
            Call(method: "POST", key: key, query: [.init("uploads", "")], headers: headers, isOnce: true))
        guard let id = answer.body["UploadId"].first, !id.isEmpty else { throw StorageError(unreadable: answer.status) }
        return Upload(key: key, id: id)
    }

    /// Uploads a part. A part with the same number is replaced.
    public func put(_ number: Int, of upload: Upload, _ body: Payload) async throws(StorageError) -> UploadedPart {
        let query: [StorageRequest.Field] = [.init("partNumber", String(number)), .init("uploadId", upload.id)]
        let answer = try await send(Call(method: "PUT", key: upload.key, query: query, body: body))
        guard let etag = answer.header("etag") else { throw StorageError(unreadable: answer.status) }
        return UploadedPart(number: number, etag: etag)
    }

    /// Makes the object of its parts. Only now can others see it.
    ///
    /// - Parameter headers: such as `If-None-Match: *`.
    /// - Throws: also for an error in the body of a 200, which a server can send when it has already begun its answer.
    public func complete(
        _ upload: Upload, _ parts: [UploadedPart], headers: [StorageRequest.Field] = []
    ) async throws(StorageError) -> ObjectVersion {
        let list = parts.map {
            "<Part><PartNumber>\($0.number)</PartNumber><ETag>\($0.etag.xmlEscaped)</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>"
        let answer = try await send(
            Call(
                method: "POST", key: upload.key, query: [.init("uploadId", upload.id)], headers: headers,
                body: .bytes(Array(body.utf8))))
        guard let etag = answer.body["ETag"].first else { throw StorageError(unreadable: answer.status) }
        return ObjectVersion(etag: etag, versionID: answer.header("x-amz-version-id"))
    }

    /// Removes the upload and its parts. There is no error if there is no such upload.
    public func abort(_ upload: Upload) async throws(StorageError) {
        do throws(StorageError) {
            _ = try await send(Call(method: "DELETE", key: upload.key, query: [.init("uploadId", upload.id)]))
        } catch {
            guard error.status == 404 else { throw error }
        }
    }

    public struct OpenUpload: Sendable, Equatable {
        public var upload: Upload
        /// When the server has created it, by its clock.
        public var begunAt: Date
    }

    /// The uploads that are neither complete nor aborted, of keys with this prefix.
    public func uploads(of prefix: String) async throws(StorageError) -> [OpenUpload] {
        return try await pages { marker in
            let markers: [StorageRequest.Field] =
                marker.map { [.init("key-marker", $0[0]), .init("upload-id-marker", $0[1])] } ?? []
            return Call(method: "GET", key: "", query: [.init("uploads", ""), .init("prefix", prefix)] + markers)
        } read: { body in
            let times = body["Upload/Initiated"].map { Date(rfc3339: $0) ?? .distantPast }
            let uploads = zip(body["Upload/Key"], body["Upload/UploadId"]).map(Upload.init)
            let found = zip(uploads, times).map { OpenUpload(upload: $0, begunAt: $1) }
            let next = ["NextKeyMarker", "NextUploadIdMarker"].compactMap { body[$0].first }
            return (found, body["IsTruncated"].first == "true" && next.count == 2 ? next : nil)
        }
    }

    /// The parts that the server has, in ascending order.
    public func parts(of upload: Upload) async throws(StorageError) -> [UploadedPart] {
        return try await pages { marker in
            let markers: [StorageRequest.Field] = marker.map { [.init("part-number-marker", $0[0])] } ?? []
            return Call(method: "GET", key: upload.key, query: [.init("uploadId", upload.id)] + markers)
        } read: { body in
            let found = zip(body["Part/PartNumber"], body["Part/ETag"]).compactMap { number, etag in
                Int(number).map { UploadedPart(number: $0, etag: etag) }
            }
            let next = body["NextPartNumberMarker"].first
            return (found, body["IsTruncated"].first == "true" ? next.map { [$0] } : nil)
        }
    }

    /// - Parameter read: returns the entries of a page, and the markers of the next one.
    private func pages<Entry>(
        _ call: ([String]?) -> Call, read: (XMLLeaves) -> ([Entry], next: [String]?)
    ) async throws(StorageError) -> [Entry] {
        var (entries, marker): ([Entry], [String]?) = ([], nil)
        repeat {
            let page = read(try await send(call(marker)).body)
            entries += page.0
            // A server that repeats a page would be asked for ever.
            guard page.next != marker else { break }
            marker = page.next
        } while marker != nil
        return entries
    }
}

extension String {
    fileprivate var xmlEscaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
