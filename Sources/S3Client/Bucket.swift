import Base
import CurlClient
import Formats
import Foundation
import Glibc
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

    /// Gives the signer of a request. It is asked for each one, because temporary keys change.
    public typealias SignerSource = @Sendable () async throws(StorageError) -> RequestSigner

    private let client: CurlClient
    private let endpoint: Endpoint
    private let prefix: String
    private let signer: SignerSource
    private let sendLimit: Int64?
    private let skew = ClockSkew()

    /// - Parameter sendLimit: bytes of a body that are sent in a second, at most; nil: any number.
    public init(
        _ name: String, at endpoint: Endpoint, _ style: Style = .path, by client: CurlClient, sendLimit: Int64? = nil,
        signer: @escaping SignerSource
    ) {
        self.client = client
        self.sendLimit = sendLimit
        self.signer = signer
        switch style {
        case .path: (self.endpoint, prefix) = (endpoint, "/\(name)/")
        case .host:
            prefix = "/"
            self.endpoint = Endpoint(scheme: endpoint.scheme, authority: "\(name).\(endpoint.authority)")
        }
    }

    // MARK: One request

    struct Call {
        var method: String
        var key: String
        var query: [StorageRequest.Field] = []
        var headers: [StorageRequest.Field] = []
        var body = Payload.bytes([])
        /// Whether it must not be carried out twice.
        var isOnce = false
    }

    struct Answer {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: XMLLeaves

        func header(_ name: String) -> String? { headers.last { $0.name.lowercased() == name }?.value }
    }

    /// - Throws: `StorageError` for each answer that is no success, also for an error in the body of a 200.
    func send(_ call: Call) async throws(StorageError) -> Answer {
        let answer = try await exchange(call)
        guard let error = StorageError(answer.status, answer.headers, answer.body) else { return answer }
        guard error.code == "RequestTimeTooSkewed", skew.learn(from: answer.header("date")) else { throw error }
        let second = try await exchange(call)
        if let error = StorageError(second.status, second.headers, second.body) { throw error }
        return second
    }

    private func exchange(_ call: Call) async throws(StorageError) -> Answer {
        let request = request(call)
        let signed = try await signer().headers(for: request, payload: call.body.sha256, at: skew.now)
        var transfer = TransferRequest(
            url: request.url, method: call.method, headers: (call.headers + signed).map { ($0.name, $0.value) })
        if call.method == "PUT" || call.method == "POST" { try call.body.put(into: &transfer) }
        // The operator names the endpoint; the rules of downloads are for the URLs of clients.
        transfer.admitsAnyAddress = true
        transfer.timeouts = .init(connect: .seconds(10), idle: Self.patience)
        transfer.sendLimit = sendLimit
        transfer.needsNewConnection = call.isOnce
        do throws(TransferError) {
            let response = try await client.exchange(transfer, bodyLimit: Self.largestAnswer)
            return Answer(status: response.status, headers: response.headers, body: XMLLeaves(response.body))
        } catch {
            throw StorageError(error)
        }
    }

    private func request(_ call: Call) -> StorageRequest {
        StorageRequest(call.method, prefix + call.key, at: endpoint, query: call.query, headers: call.headers)
    }

    /// The time without a byte of the server after which it counts as away.
    private static let patience = Duration.seconds(60)
    /// Bytes. A page of a list has at most 1,000 entries.
    private static let largestAnswer = 4 << 20

    // MARK: For others to send

    /// A request for an object, signed, for a client that reads the object while it arrives.
    ///
    /// - Parameter headers: such as `Range` and `If-Match`.
    public func signed(
        _ method: String, _ key: String, headers: [StorageRequest.Field]
    ) async throws(StorageError) -> (url: String, headers: [StorageRequest.Field]) {
        let request = request(Call(method: method, key: key, headers: headers))
        let signed = try await signer().headers(for: request, payload: Payload.bytes([]).sha256, at: skew.now)
        return (request.url, headers + signed)
    }

    /// A URL with which others can read the object for a time, without the key.
    ///
    /// - Parameters:
    ///   - seconds: 1 to 604,800.
    ///   - query: such as `response-content-disposition`.
    public func presignedURL(
        of key: String, validFor seconds: Int, query: [StorageRequest.Field] = []
    ) async throws(StorageError) -> String {
        let request = request(Call(method: "GET", key: key, query: query))
        return try await signer().presignedURL(for: request, validFor: seconds, at: skew.now)
    }

    /// The URL of an object, without a signature.
    public func url(of key: String) -> String { request(Call(method: "GET", key: key)).url }
}

/// The body of a request.
public enum Payload: Sendable {
    case bytes([UInt8])
    /// Bytes of a file. The server refuses them if they have another SHA-256.
    case file(path: String, range: Range<Int64>, sha256: [UInt8])

    public var sha256: [UInt8] {
        switch self {
        case .bytes(let bytes): HashFunction.sha256.hash(bytes)
        case .file(_, _, let sha256): sha256
        }
    }

    /// Opens the file for this request alone, at the first of its bytes.
    fileprivate func put(into request: inout TransferRequest) throws(StorageError) {
        switch self {
        case .bytes(let bytes): request.body = bytes
        case .file(let path, let range, _):
            let number = open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { throw StorageError(unreadableFile: errno) }
            let file = Descriptor(owning: number)
            guard lseek(number, off_t(range.lowerBound), SEEK_SET) >= 0 else {
                throw StorageError(unreadableFile: errno)
            }
            (request.bodyFile, request.bodyLength) = (file, Int64(range.count))
        }
    }
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
        _ key: String, _ body: Payload, headers: [StorageRequest.Field] = []
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
