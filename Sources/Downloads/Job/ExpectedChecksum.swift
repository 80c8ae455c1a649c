import Formats
import HTTPSemantics

/// The digest that a job expects: as the client has given it, or at an address.
public enum ExpectedChecksum: Sendable, Equatable {
    case value(Checksum)
    case file(ChecksumFile)
}

/// A list of digests at an address, such as `SHA256SUMS`. Each attempt of a job reads it before its first request for the file.
public struct ChecksumFile: Sendable, Hashable, Codable {
    public var url: String
    /// The name of the job's file in the list; nil: the last component of the job's URL.
    public var file: String?
    /// nil: the list is trusted as far as its server is.
    public var signature: ChecksumSignature?

    public init(url: String, file: String? = nil, signature: ChecksumSignature? = nil) {
        self.url = url
        self.file = file
        self.signature = signature
    }

    /// In bytes, of the list and of its signature.
    public static let largest = 1 << 20
}

/// The signature of a list of digests. One of the keys must have made it.
public struct ChecksumSignature: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// jedisct1.github.io/minisign
        case minisign
        /// signify(1) of OpenBSD
        case signify
    }

    public var kind: Kind
    public var url: String
    /// 1 to ``mostKeys`` public keys: the base64 lines of their files (``SignatureKey``).
    public var keys: [String]

    public static let mostKeys = 16

    public init(kind: Kind, url: String, keys: [String]) {
        self.kind = kind
        self.url = url
        self.keys = keys
    }
}

/// A public key of minisign or signify. Both have one format: `Ed`, eight bytes that identify the key, and an Ed25519 key.
public struct SignatureKey: Sendable, Equatable {
    public let id: [UInt8]
    /// The 32 bytes of the key.
    public let bytes: [UInt8]

    /// - Parameter base64: the second line of the file of the key.
    public init?(base64: String) {
        guard base64.utf8.count == 56, let decoded = [UInt8](base64: base64), decoded.count == 42,
            decoded.starts(with: "Ed".utf8)
        else { return nil }
        id = Array(decoded[2..<10])
        bytes = Array(decoded[10...])
    }
}

extension ExpectedChecksum {
    public var file: ChecksumFile? { if case .file(let file) = self { file } else { nil } }
    public var value: Checksum? { if case .value(let checksum) = self { checksum } else { nil } }
}

/// The form in which earlier versions have stored a checksum is that of a value.
extension ExpectedChecksum: Codable {
    private enum Member: String, CodingKey { case url }

    public init(from decoder: any Decoder) throws {
        let isFile = try decoder.container(keyedBy: Member.self).contains(.url)
        self = isFile ? .file(try ChecksumFile(from: decoder)) : .value(try Checksum(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .value(let checksum): try checksum.encode(to: encoder)
        case .file(let file): try file.encode(to: encoder)
        }
    }
}

/// The queries of the addresses can have secrets.
extension ChecksumFile {
    public var holdsSecret: Bool { URLRule.holdsSecret(url) || signature.map { URLRule.holdsSecret($0.url) } ?? false }

    /// The file as it is known without the key.
    public var withoutSecrets: ChecksumFile {
        var file = self
        file.url = URLRule.redacted(url)
        file.signature?.url = URLRule.redacted(signature?.url ?? "")
        return file
    }
}

/// What a list has said about the file of a job: for the receipt.
public struct ListedChecksum: Sendable, Equatable, Codable {
    /// The address of the list.
    public var url: String
    /// The name in the list; nil: the list has one digest and no name.
    public var file: String?
    public var checksum: Checksum
    /// nil: the job did not ask for a signature.
    public var signature: Signature?

    public struct Signature: Sendable, Equatable, Codable {
        public var kind: ChecksumSignature.Kind
        public var url: String
        /// The key of the job that made it.
        public var key: String
        /// The comment of minisign, which the signature covers; nil: signify has none.
        public var trustedComment: String?

        public init(kind: ChecksumSignature.Kind, url: String, key: String, trustedComment: String?) {
            self.kind = kind
            self.url = url
            self.key = key
            self.trustedComment = trustedComment
        }
    }

    public init(url: String, file: String?, checksum: Checksum, signature: Signature?) {
        self.url = url
        self.file = file
        self.checksum = checksum
        self.signature = signature
    }

    public var holdsSecret: Bool { URLRule.holdsSecret(url) || signature.map { URLRule.holdsSecret($0.url) } ?? false }

    /// With addresses in another form.
    public func mapAddresses(_ shown: (String) -> String) -> ListedChecksum {
        var listed = self
        listed.url = shown(url)
        listed.signature?.url = shown(signature?.url ?? "")
        return listed
    }
}
