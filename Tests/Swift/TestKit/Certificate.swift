import Base
import Foundation

/// A server's certificate and its key, as files, created with `openssl`.
public final class Certificate: Sendable {
    public enum Validity: Sendable {
        case current, expired
    }

    private let folder: TemporaryFolder

    public var path: String { folder.path("certificate.pem") }
    public var keyPath: String { folder.path("key.pem") }

    /// A certificate that no authority has signed.
    public static func selfSigned(for host: String = "localhost") async throws -> Certificate {
        let certificate = Certificate(folder: try TemporaryFolder())
        try await certificate.make(
            for: host, "-x509", "-days", "1", "-addext", "subjectAltName=DNS:\(host)", "-out", certificate.path)
        return certificate
    }

    /// The pin of its key: base64 of the SHA-256 of the public key's DER.
    public var pin: String {
        get async throws {
            let text = try await OpenSSL.run("pkey", "-in", keyPath, "-pubout")
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }
            guard let key = Data(base64Encoded: lines.joined()) else { throw OpenSSL.Failed(errors: text) }
            return Data(HashFunction.sha256.hash(Array(key))).base64EncodedString()
        }
    }

    fileprivate init(folder: TemporaryFolder) {
        self.folder = folder
    }

    fileprivate func make(for subject: String, _ arguments: String...) async throws {
        try await OpenSSL.run(
            ["req", "-subj", "/CN=\(subject)", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
                + ["-keyout", keyPath] + arguments)
    }
}

/// A certificate authority that only clients trust which are given its file.
public final class CertificateAuthority: Sendable {
    private let own: Certificate

    /// The file with its own certificate, for clients that trust it.
    public var caFile: String { own.path }

    public init(name: String = "A test's own authority") async throws {
        own = Certificate(folder: try TemporaryFolder())
        try await own.make(for: name, "-x509", "-days", "2", "-out", own.path)
    }

    public func issue(
        to host: String = "localhost", _ validity: Certificate.Validity = .current
    ) async throws -> Certificate {
        let folder = try TemporaryFolder()
        let certificate = Certificate(folder: folder)
        let request = folder.path("request.pem")
        try await certificate.make(for: host, "-new", "-addext", "subjectAltName=DNS:\(host)", "-out", request)
        // A negative number of days: the certificate expired yesterday.
        let days = validity == .expired ? "-1" : "1"
        try await OpenSSL.run(
            "x509", "-req", "-in", request, "-CA", own.path, "-CAkey", own.keyPath, "-CAcreateserial", "-days", days,
            "-copy_extensions", "copyall", "-out", certificate.path)
        return certificate
    }
}

private enum OpenSSL {
    struct Failed: Error {
        let errors: String
    }

    @discardableResult
    static func run(_ arguments: String...) async throws -> String {
        try await run(arguments)
    }

    @discardableResult
    static func run(_ arguments: [String]) async throws -> String {
        let outcome = try await ChildProcess.run("openssl", arguments)
        guard outcome.succeeded else { throw Failed(errors: outcome.errors) }
        return outcome.output
    }
}
