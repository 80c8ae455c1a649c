import Configuration
import CurlClient
import Downloads
import Engine
import Foundation
import S3Client

/// The buckets that locations are, with the client that sends their requests.
struct Buckets: Sendable {
    /// nil: no location is a bucket. Its transfers may wait for the disk, and not for the downloads.
    let client: CurlClient?
    fileprivate let stores: [(name: Name, store: BucketStore)]

    /// - Throws: `StartError` if a bucket has no access key, or one that cannot be read.
    init(_ settings: Settings) async throws {
        let rules = settings.locations.compactMap { rule in rule.bucket.map { (name: rule.name, bucket: $0) } }
        guard !rules.isEmpty else {
            (client, stores) = (nil, [])
            return
        }
        let client = try await StartError.wrapping { () throws(CurlClientError) in try CurlClient(name: "buckets") }
        let keys = try KeySources(
            rules, settings.locationCredentials, ProcessInfo.processInfo.environment, client)
        stores = try rules.map { rule in
            (rule.name, BucketStore(rule.bucket, try keys.source(of: rule.name, rule.bucket), client))
        }
        self.client = client
    }

    /// - Parameter folder: of the parts.
    func locations(staging folder: DownloadsFolder) -> [Location] {
        stores.map { Location($0.name, $0.store, staging: folder) }
    }
}

/// Chooses the source of the access key of each bucket: its file, the instance, or the environment for the one that has neither.
struct KeySources {
    private let files: [Name: String]
    private let client: CurlClient
    private let environment: [String: String]

    init(
        _ rules: [(name: Name, bucket: BucketRule)], _ files: [LocationCredentials], _ environment: [String: String],
        _ client: CurlClient
    ) throws {
        self.files = Dictionary(uniqueKeysWithValues: files.map { ($0.location, $0.path) })
        self.client = client
        self.environment = environment
        let others = rules.filter { [files = self.files] in files[$0.name] == nil && !$0.bucket.usesInstanceCredentials
        }
        if others.count > 1 {
            let names = others.map(\.name.text).joined(separator: ", ")
            throw StartError(
                description:
                    "The locations \(names) have no access keys of their own, and the environment has one. Name a file for each but one: --location-credentials NAME=FILE."
            )
        }
    }

    func source(of name: Name, _ rule: BucketRule) throws -> KeySource {
        if rule.usesInstanceCredentials {
            let endpoint = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
            return KeySource(.instance(endpoint: endpoint, client))
        }
        do throws(AccessKey.Fault) {
            if let path = files[name] {
                let source = KeySource(.file(path: path))
                _ = try source.key(inFile: path)
                return source
            }
            guard let key = try AccessKey(environment: environment) else {
                throw AccessKey.Fault(
                    why:
                        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file: --location-credentials \(name)=FILE."
                )
            }
            return KeySource(.fixed(key))
        } catch {
            let place = files[name].map { ", which is to be in \($0)" } ?? ""
            throw StartError(description: "The location \(name) has no access key\(place). \(error.why)")
        }
    }
}

extension BucketStore {
    convenience init(_ rule: BucketRule, _ keys: KeySource, _ client: CurlClient) {
        let parts = rule.endpoint.split(separator: ":", maxSplits: 1)
        let endpoint = Endpoint(scheme: String(parts[0]), authority: String(parts[1].dropFirst(2)))
        let bucket = Bucket(
            rule.bucket, at: endpoint, rule.isBucketInHost ? .host : .path, by: client,
            // libcurl limits each connection.
            sendLimit: rule.bytesPerSecond.map { max(1, $0 / Int64(rule.connections)) }
        ) { () async throws(StorageError) in
            RequestSigner(try await keys.key(), region: rule.region)
        }
        self.init(
            bucket, named: rule.bucket, at: rule.endpoint, prefix: rule.prefix, storageClass: rule.storageClass,
            encryption: rule.encryption, connections: rule.connections)
    }
}

/// What a look at the bucket of a location finds, for `fetchd doctor`.
public struct BucketCheck: Sendable {
    public let location: Name
    /// Why no object can go there, as a part of a sentence; nil if one can.
    public let fault: String?
    /// Why only some objects can go there, as a sentence; nil if all can.
    public let restriction: String?

    /// Writes a small object to each bucket, and removes it.
    ///
    /// - Throws: `StartError` if a bucket has no access key, or one that cannot be read.
    public static func all(of settings: Settings) async throws -> [BucketCheck] {
        let buckets = try await Buckets(settings)
        var checks: [BucketCheck] = []
        for (name, store) in buckets.stores {
            let fault = await store.fault
            checks.append(BucketCheck(location: name, fault: fault, restriction: store.restriction))
        }
        await buckets.client?.shutdown()
        return checks
    }
}
