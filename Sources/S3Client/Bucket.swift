import Base
import CurlClient
import Formats
import Foundation
import HTTPSemantics

/// A bucket of S3-compatible storage, and the operations that fetchd needs: whole objects, and uploads in parts.
///
/// A request is sent once; twice only if the server says that our clock differs from its own. The caller decides about every other
/// repetition.
public struct Bucket: Sendable {
    /// Where the name of the bucket stands.
    public enum Style: String, Sendable, CaseIterable {
        /// `https://s3.example/bucket/key`
        case path
        /// `https://bucket.s3.example/key`
        case host
    }

    private let client: CurlClient
    private let endpoint: Endpoint
    private let prefix: String
    private let signer: @Sendable () -> RequestSigner
    private let skew = ClockSkew()

    /// - Parameter signer: called for each request, because temporary keys change.
    public init(
        _ name: String, at endpoint: Endpoint, _ style: Style = .path, by client: CurlClient,
        signer: @escaping @Sendable () -> RequestSigner
    ) {
        self.client = client
        self.signer = signer
        switch style {
        case .path: (self.endpoint, prefix) = (endpoint, "/\(name)/")
        case .host:
            prefix = "/"
            self.endpoint = Endpoint(scheme: endpoint.scheme, authority: "\(name).\(endpoint.authority)")
        }
    }

    // MARK: One request

    private struct Call {
        var method: String
        var key: String
        var query: [StorageRequest.Field] = []
        var headers: [StorageRequest.Field] = []
        var body: [UInt8] = []
    }

    private struct Answer {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: XMLLeaves

        func header(_ name: String) -> String? {
            headers.last { $0.name.lowercased() == name }?.value
        }
    }

    /// - Throws: `StorageError` for each answer that is no success, also for an error in the body of a 200.
    private func send(_ call: Call) async throws(StorageError) -> Answer {
        let answer = try await exchange(call)
        guard let error = StorageError(answer.status, answer.headers, answer.body) else { return answer }
        guard error.code == "RequestTimeTooSkewed", skew.learn(from: answer.header("date")) else { throw error }
        let second = try await exchange(call)
        if let error = StorageError(second.status, second.headers, second.body) { throw error }
        return second
    }

    private func exchange(_ call: Call) async throws(StorageError) -> Answer {
        let request = StorageRequest(
            call.method, prefix + call.key, at: endpoint, query: call.query, headers: call.headers)
        let signed = signer().headers(for: request, payload: HashFunction.sha256.hash(call.body), at: skew.now)
        let hasBody = call.method == "PUT" || call.method == "POST"
        var transfer = TransferRequest(
            url: request.url, method: call.method, headers: (call.headers + signed).map { ($0.name, $0.value) },
            body: hasBody ? call.body : nil)
        // The operator names the endpoint; the rules of downloads are for the URLs of clients.
        transfer.admitsAnyAddress = true
        do throws(TransferError) {
            let response = try await client.exchange(transfer, bodyLimit: Self.largestAnswer)
            return Answer(status: response.status, headers: response.headers, body: XMLLeaves(response.body))
        } catch {
            throw StorageError(error)
        }
    }

    /// Bytes. A page of a list has at most 1,000 entries.
    private static let largestAnswer = 4 << 20
}

// MARK: - Objects

extension Bucket {
    /// An object as the answer to its creation names it.
    public struct ObjectVersion: Sendable, Equatable {
        /// With its quotation marks. Not always an MD5.
        public var etag: String
        /// nil if the bucket keeps no versions.
        public var versionID: String?
    }

    public struct ObjectHead: Sendable, Equatable {
        public var version: ObjectVersion
        public var size: Int64
        /// The headers `x-amz-meta-…` without this prefix, in lower case.
        public var metadata: [String: String]
    }

    /// Creates or replaces an object.
    public func put(
        _ key: String, _ body: [UInt8], headers: [StorageRequest.Field] = []
    ) async throws(StorageError) -> ObjectVersion {
        let answer = try await send(Call(method: "PUT", key: key, headers: headers, body: body))
        return ObjectVersion(etag: answer.header("etag") ?? "", versionID: answer.header("x-amz-version-id"))
    }

    /// - Returns: nil if there is no such object.
    public func head(_ key: String) async throws(StorageError) -> ObjectHead? {
        do throws(StorageError) {
            let answer = try await send(Call(method: "HEAD", key: key))
            let metadata = answer.headers.compactMap { header -> (String, String)? in
                let (name, mark) = (header.name.lowercased(), "x-amz-meta-")
                return name.hasPrefix(mark) ? (String(name.dropFirst(mark.count)), header.value) : nil
            }
            return ObjectHead(
                version: ObjectVersion(
                    etag: answer.header("etag") ?? "", versionID: answer.header("x-amz-version-id")),
                size: answer.header("content-length").flatMap { Int64($0) } ?? 0,
                metadata: Dictionary(metadata) { $1 })
        } catch {
            guard error.status == 404 else { throw error }
            return nil
        }
    }

    /// Deletes an object. There is no error if there is none.
    public func delete(_ key: String) async throws(StorageError) {
        _ = try await send(Call(method: "DELETE", key: key))
    }
}

// MARK: - Uploads in parts

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
            Call(method: "POST", key: key, query: [.init("uploads", "")], headers: headers))
        guard let id = answer.body["UploadId"].first, !id.isEmpty else {
            throw StorageError(unreadable: answer.status)
        }
        return Upload(key: key, id: id)
    }

    /// Uploads a part. A part with the same number is replaced.
    public func put(_ number: Int, of upload: Upload, _ body: [UInt8]) async throws(StorageError) -> UploadedPart {
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
                body: Array(body.utf8)))
        guard let etag = answer.body["ETag"].first else {
            throw StorageError(unreadable: answer.status)
        }
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

    /// The uploads that are neither complete nor aborted, of keys with this prefix.
    public func uploads(of prefix: String) async throws(StorageError) -> [Upload] {
        return try await pages { marker in
            let markers: [StorageRequest.Field] =
                marker.map { [.init("key-marker", $0[0]), .init("upload-id-marker", $0[1])] } ?? []
            return Call(method: "GET", key: "", query: [.init("uploads", ""), .init("prefix", prefix)] + markers)
        } read: { body in
            let found = zip(body["Upload/Key"], body["Upload/UploadId"]).map(Upload.init)
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

/// The difference between the clock of the server and ours. Signatures are accepted for 15 minutes.
private final class ClockSkew: Sendable {
    private let seconds = Locked(0.0)

    var now: Date { Date().addingTimeInterval(seconds.withLock(\.self)) }

    /// - Returns: whether another signature can be accepted now.
    func learn(from date: String?) -> Bool {
        guard let time = date.flatMap({ Date(httpDate: $0) }) else { return false }
        seconds.withLock { $0 = time.timeIntervalSinceNow }
        return true
    }
}
