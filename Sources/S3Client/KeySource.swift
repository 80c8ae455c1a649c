import Base
import CurlClient
import Formats
import Foundation
import Glibc

/// Where the access key of a bucket comes from. Temporary keys are renewed before they end.
public final class KeySource: Sendable {
    public enum Origin: Sendable {
        case fixed(AccessKey)
        /// A file in the form of AWS's shared credentials. It is read again when it has changed.
        case file(path: String)
        /// The metadata service of the instance, with session tokens (IMDSv2).
        ///
        /// - endpoint: `http://169.254.169.254`.
        case instance(endpoint: String, CurlClient)
    }

    private struct Known {
        var key: AccessKey
        /// Of a file: its last change, in nanoseconds since 1970.
        var changedAt: Int64?
        /// When temporary keys are renewed.
        var renewedAt: Date?
    }

    private let origin: Origin
    private let known = Locked<Known?>(nil)

    public init(_ origin: Origin) { self.origin = origin }

    public func key() async throws(StorageError) -> AccessKey {
        switch origin {
        case .fixed(let key): return key
        case .file(let path):
            do throws(AccessKey.Fault) {
                return try key(inFile: path)
            } catch {
                throw StorageError(noKey: "The file with the access key, \(path), cannot be used. \(error.why)")
            }
        case .instance(let endpoint, let client):
            if let known = known.withLock(\.self), let end = known.renewedAt, end > Date() { return known.key }
            return try await renew(InstanceMetadata(endpoint: endpoint, client: client))
        }
    }

    /// - Throws: also if other users may read the file.
    public func key(inFile path: String) throws(AccessKey.Fault) -> AccessKey {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw AccessKey.Fault(why: "It cannot be read: \(String(cString: strerror(errno))).") }
        let file = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw AccessKey.Fault(why: "It cannot be read.") }
        guard status.st_mode & 0o077 == 0 else {
            throw AccessKey.Fault(why: "Other users have permissions on it. Run: chmod go= \(path)")
        }
        let changedAt = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        if let known = known.withLock(\.self), known.changedAt == changedAt { return known.key }
        let bytes = (try? file.readToEnd()) ?? Data()
        let key = try AccessKey(file: String(decoding: bytes, as: UTF8.self))
        known.withLock { $0 = Known(key: key, changedAt: changedAt) }
        return key
    }

    private func renew(_ metadata: InstanceMetadata) async throws(StorageError) -> AccessKey {
        let (key, end) = try await metadata.credentials()
        // AWS gives new keys at least five minutes before the old ones end.
        known.withLock { $0 = Known(key: key, renewedAt: end.addingTimeInterval(-300)) }
        return key
    }
}

/// The metadata service of an instance (docs.aws.amazon.com/AWSEC2, "Use the Instance Metadata Service"), version 2.
private struct InstanceMetadata {
    let endpoint: String
    let client: CurlClient

    func credentials() async throws(StorageError) -> (AccessKey, until: Date) {
        let token = try await text("PUT", "api/token", [("X-aws-ec2-metadata-token-ttl-seconds", "300")])
        let header = [("X-aws-ec2-metadata-token", token)]
        let folder = "meta-data/iam/security-credentials/"
        guard let role = try await text("GET", folder, header).split(separator: "\n").first else {
            throw StorageError(noKey: "The instance has no role.")
        }
        let answer = try await text("GET", folder + role, header)
        guard let document = (try? JSON(parsing: answer))?.objectValue,
            let id = document["AccessKeyId"]?.stringValue, let secret = document["SecretAccessKey"]?.stringValue,
            let end = document["Expiration"]?.stringValue.flatMap({ Date(rfc3339: $0) })
        else { throw StorageError(noKey: "The metadata service of the instance has sent no access key.") }
        return (AccessKey(id: id, secret: secret, sessionToken: document["Token"]?.stringValue), end)
    }

    private func text(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)]
    ) async throws(StorageError) -> String {
        var request = TransferRequest(url: "\(endpoint)/latest/\(path)", method: method, headers: headers)
        // The rules of downloads refuse this address, so that no client reads the keys. This request is for fetchd itself.
        request.admitsAnyAddress = true
        request.timeouts = .init(connect: .seconds(2), idle: .seconds(5))
        do throws(TransferError) {
            let answer = try await client.exchange(request, bodyLimit: 64 << 10)
            guard answer.status == 200 else {
                throw TransferError.protocolError("it has answered with the status \(answer.status)")
            }
            return String(decoding: answer.body, as: UTF8.self)
        } catch {
            throw StorageError(noKey: "The metadata service of the instance gives no access key: \(error).")
        }
    }
}
