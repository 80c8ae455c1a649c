import Downloads
import Formats
import Foundation

/// A location that is a bucket of S3-compatible storage: `s3://bucket/prefix`, with parameters.
public struct BucketRule: Sendable, Equatable {
    static let scheme = "s3://"

    public let bucket: String
    /// What the keys of objects begin with; empty, or with a `/` at its end.
    public let prefix: String
    /// Such as `https://s3.eu-central-1.amazonaws.com`, without a `/` at its end.
    public let endpoint: String
    public let region: String
    /// Whether the name of the bucket is part of the host, and not of the path.
    public let isBucketInHost: Bool
    public let storageClass: String?
    /// `AES256`, or `aws:kms:` and a key; nil: as the bucket says.
    public let encryption: String?
    /// Whether the keys come from the metadata service of the instance.
    public let usesInstanceCredentials: Bool
    /// The largest number of requests that send parts at the same time.
    public let connections: Int
    /// Bytes that are sent in a second; nil: any number.
    public let bytesPerSecond: Int64?

    private enum Parameter: String, CaseIterable {
        case endpoint, region, style, sse, credentials, insecure, connections
        case storageClass = "storage_class"
        case bytesPerSecond = "bytes_per_second"
    }

    init(_ place: Substring, _ parameters: LocationParameters) throws(ValueFault) {
        let slash = place.firstIndex(of: "/") ?? place.endIndex
        bucket = String(place[..<slash])
        guard bucket.range(of: "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", options: .regularExpression) != nil else {
            throw ValueFault("has the bucket '\(bucket)'; write s3:// and the name of a bucket")
        }
        let prefix = place[slash...].drop { $0 == "/" }
        guard !prefix.contains("//"),
            !prefix.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw ValueFault("has the prefix '\(prefix)', which has an empty component or a control character") }
        self.prefix = prefix.isEmpty || prefix.hasSuffix("/") ? String(prefix) : prefix + "/"
        try parameters.require(Parameter.self, of: "a bucket")
        region = parameters[Parameter.region] ?? "us-east-1"
        guard region.range(of: "^[A-Za-z0-9-]+$", options: .regularExpression) != nil else {
            throw ValueFault("has the region '\(region)'; it takes a name such as eu-central-1")
        }
        let given = parameters[Parameter.endpoint]
        let isInsecure = try Self.choice(Parameter.insecure, in: parameters, [("1", true), ("0", false)]) ?? false
        endpoint =
            try given.map { text throws(ValueFault) in try Self.endpoint(text, isInsecure: isInsecure) }
            ?? "https://s3.\(region).amazonaws.com"
        // A certificate covers one label in front of the host.
        isBucketInHost =
            try Self.choice(Parameter.style, in: parameters, [("host", true), ("path", false)])
            ?? (given == nil && !bucket.contains("."))
        storageClass = parameters[Parameter.storageClass]
        encryption = parameters[Parameter.sse]
        guard encryption.map({ $0 == "AES256" || $0.hasPrefix("aws:kms:") && $0.count > 8 }) ?? true else {
            throw ValueFault("has the sse '\(encryption ?? "")'; it takes AES256, or aws:kms: and a key")
        }
        usesInstanceCredentials =
            try Self.choice(Parameter.credentials, in: parameters, [("instance", true)]) ?? false
        connections = try Self.number(Parameter.connections, in: parameters, 1...64) ?? 4
        bytesPerSecond = try parameters[Parameter.bytesPerSecond].map { text throws(ValueFault) in
            guard let bytes = Quantity.bytes(text), bytes > 0 else {
                throw ValueFault("has the bytes_per_second '\(text)'; it takes bytes such as 500k or 20M")
            }
            return bytes
        }
    }

    private static func choice<Value>(
        _ name: Parameter, in parameters: LocationParameters, _ values: [(String, Value)]
    ) throws(ValueFault) -> Value? {
        guard let text = parameters[name] else { return nil }
        guard let value = values.first(where: { $0.0 == text }) else {
            let known = values.map(\.0).joined(separator: " or ")
            throw ValueFault("has the \(name.rawValue) '\(text)'; it takes \(known)")
        }
        return value.1
    }

    private static func number(
        _ name: Parameter, in parameters: LocationParameters, _ range: ClosedRange<Int>
    ) throws(ValueFault) -> Int? {
        guard let text = parameters[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ValueFault(
                "has the \(name.rawValue) '\(text)'; it takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// - Throws: for a URL with more than a scheme, a host and a port, and for one without TLS to another machine.
    private static func endpoint(_ text: String, isInsecure: Bool) throws(ValueFault) -> String {
        let fault = ValueFault(
            "has the endpoint '\(text.contains("@") ? "(not shown)" : text)'; it takes a URL of a host and a port, without user and path, such as https://s3.example"
        )
        guard let url = URLComponents(string: text), let scheme = url.scheme, let host = url.host, !host.isEmpty,
            ["http", "https"].contains(scheme), url.user == nil, url.password == nil, ["", "/"].contains(url.path),
            url.query == nil, url.fragment == nil, !text.contains("@")
        else { throw fault }
        guard scheme == "https" || isInsecure || LoopbackHost.isOne(host) else {
            throw ValueFault(
                "has the endpoint '\(text)' without TLS; use https, or say insecure=1 if its network is trusted")
        }
        return "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    }

    /// Whether both name the same keys.
    func isSamePlace(as other: BucketRule) -> Bool {
        (endpoint, bucket, prefix) == (other.endpoint, other.bucket, other.prefix)
    }
}

private enum LoopbackHost {
    static func isOne(_ host: String) -> Bool {
        host == "localhost" || host == "[::1]" || host == "::1" || host.hasPrefix("127.")
    }
}

/// A file with the access key of a location, as the setting `location_credentials` declares it: `archive=/etc/fetchd/archive.ini`.
public struct LocationCredentials: Sendable, Equatable {
    public let location: Name
    /// Absolute.
    public let path: String

    init(_ text: String) throws(ValueFault) {
        let (name, path) = try LocationParameters.halves(
            of: text, at: "=", or: "has no '='; write the name of a location and a file")
        guard let location = Name(name), let file = path.expandingHome(), !file.isEmpty else {
            throw ValueFault("is not the name of a location, '=', and the path of a file")
        }
        self.location = location
        self.path = AbsolutePath.of(file)
    }
}

extension Grammar<[LocationCredentials]> {
    static let locationCredentials = texts(separator: ";") { texts throws(ValueFault) in
        var files: [LocationCredentials] = []
        for text in texts {
            do throws(ValueFault) {
                let file = try LocationCredentials(text)
                guard !files.contains(where: { $0.location == file.location }) else {
                    throw ValueFault("names a location for the second time")
                }
                files.append(file)
            } catch {
                throw ValueFault("contains '\(text)', which \(error.why)")
            }
        }
        return files
    } write: {
        $0.map { "\($0.location)=\($0.path)" }
    }
}
