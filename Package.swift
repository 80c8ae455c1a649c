// swift-tools-version: 6.2
import PackageDescription

// Versions are pinned exactly: Package.resolved is not committed, and every build should be of the same sources.
let dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let structuredFields = Target.Dependency.product(
    name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

func layer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestKit"], path: "Tests/Swift/\(name)", swiftSettings: strict)
}

/// A program of examples/swift.
func example(_ name: String, _ folder: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["FetchdClient"], path: "examples/swift/\(folder)", swiftSettings: strict)
}

let package = Package(
    name: "fetchd",
    // The client library is written for these systems too, but no build on them was tried. The service is for Linux.
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "fetchd", targets: ["fetchd"]),
        .library(name: "FetchdClient", targets: ["FetchdClient"]),
    ],
    dependencies: dependencies,
    targets: [
        // System libraries in C.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        // What any layer may use: locks, descriptors, digests, metrics, decompression, and the lines of the log.
        layer("Base", ["CCrypto", "CLinux", "CZlib", "Formats", logging]),
        // Authenticated encryption of what is secret in the database, and its keys.
        layer("Sealing", ["Base", "CCrypto", "Formats"]),

        // Text formats (JSON, times, identifiers, paths), and the rules of HTTP as values.
        layer("Formats", []),
        layer("HTTPSemantics", ["Formats", structuredFields]),

        // Texts that name many downloads, as requests for jobs.
        layer("Lists", ["CExpat", "Formats", "HTTPSemantics"]),

        // The C libraries as Swift, and the domain. None of these three imports another.
        layer("CurlClient", ["Base", "CCurl", "Formats", "HTTPSemantics"]),
        layer("HTTPServer", ["Base", "CLinux", "CMicroHTTPD", "Formats", httpTypes]),
        layer("Downloads", ["Formats", "HTTPSemantics"]),

        // Requests to S3-compatible storage, and their signatures.
        layer("S3Client", ["Base", "CExpat", "CurlClient", "Formats", "HTTPSemantics"]),

        // libpq as Swift, for the PostgreSQL store.
        layer("PostgresClient", ["Base", "CPostgreSQL"]),

        // The store: statements, tables as values, and one writer. Its engines are modules of their own.
        layer("Storage", ["Base", "Downloads", "Formats", "HTTPSemantics", "Sealing", logging]),
        layer("StorageSQLite", ["Base", "CSQLite", "Downloads", "Formats", "Sealing", "Storage", grdb, logging]),
        layer("StoragePostgres", ["Base", "Downloads", "Formats", "PostgresClient", "Sealing", "Storage", logging]),

        // The workers: transfers and deliveries.
        layer(
            "Engine",
            [
                "Base", "CLinux", "CurlClient", "Downloads", "Formats", "HTTPSemantics", "Lists", "S3Client", "Storage",
                logging,
            ]),
        layer(
            "Webhooks",
            ["Base", "CurlClient", "Downloads", "Formats", "HTTPSemantics", "Storage", logging]),

        // The table of settings, their sources, those that can change while the service runs, and their schedule.
        layer(
            "Configuration",
            [
                "Base", "CurlClient", "Downloads", "Formats", "HTTPSemantics", "PostgresClient", "Sealing", "Storage",
                logging,
            ]),

        // The operations on jobs and sessions that all interfaces share.
        layer("Operations", ["Downloads", "Engine", "Storage"]),

        // The origin server of `rehearse:` URLs.
        layer("Rehearsals", ["Base", "Downloads", "HTTPServer", httpTypes]),

        // aria2's JSON-RPC over the jobs of a session.
        layer(
            "Aria2RPC",
            ["Base", "Downloads", "Engine", "Formats", "HTTPSemantics", "Lists", "Operations", "Storage", logging]),

        // The files that the program serves: the dashboard, and the API's description.
        .target(name: "CEmbeddedFiles"),

        // The HTTP API and the dashboard.
        .target(
            name: "API",
            dependencies: [
                "Aria2RPC", "Base", "CEmbeddedFiles", "Configuration", "Downloads", "Engine", "Formats",
                "HTTPSemantics", "HTTPServer", "Lists", "Operations", "Storage", httpTypes, logging,
            ],
            exclude: ["Dashboard"], swiftSettings: strict),

        // The commands that use a running service: they know only its public API.
        layer("Client", ["Base", "CLinux", "CurlClient", "Formats", "Lists", argumentParser]),

        // A client for other programs, in the shape of a background URLSession. It uses Foundation only.
        layer("FetchdClient", []),
        example("background-manager", "BackgroundManager"),
        example("progress", "Progress"),
        example("resume-after-relaunch", "ResumeAfterRelaunch"),
        example("all-done", "AllDone"),
        example("one-at-a-time", "OneAtATime"),
        example("post-parameters", "PostParameters"),

        // The whole service, started and stopped by code.
        layer(
            "Daemon",
            [
                "API", "Aria2RPC", "Base", "Configuration", "CurlClient", "Downloads", "Engine", "Formats",
                "HTTPServer", "Rehearsals", "S3Client", "Storage", "StorageSQLite", "Webhooks", httpTypes, logging,
            ]),

        .executableTarget(
            name: "fetchd",
            dependencies: [
                "API", "Aria2RPC", "Base", "CLinux", "Client", "Configuration", "CurlClient", "Daemon", "Downloads",
                "Engine", "Formats", "HTTPServer", "Sealing", "Storage", "StoragePostgres", "StorageSQLite", "Webhooks",
                argumentParser, logging,
            ],
            swiftSettings: strict),

        .systemLibrary(name: "CSpawn", path: "Tests/Swift/CSpawn"),
        .target(
            name: "TestKit",
            dependencies: [
                "Base", "CSpawn", "CurlClient", "Daemon", "Downloads", "Formats", "PostgresClient", "Storage",
                "StoragePostgres", logging,
            ],
            path: "Tests/Swift/TestKit", swiftSettings: strict),
        tests("BaseTests", ["Base", "Formats", logging]),
        tests("SealingTests", ["Sealing"]),
        tests("CurlClientTests", ["CurlClient", "Formats", "HTTPSemantics"]),
        tests("PostgresClientTests", ["Base", "PostgresClient"]),
        tests("HTTPServerTests", ["Base", "HTTPServer", httpTypes]),
        tests("FormatsTests", ["Formats"]),
        tests("ListsTests", ["Formats", "Lists"]),
        tests("HTTPSemanticsTests", ["Formats", "HTTPSemantics"]),
        tests("DownloadsTests", ["Downloads", "Formats", "HTTPSemantics"]),
        tests(
            "StorageTests",
            [
                "Base", "Storage", "StoragePostgres", "StorageSQLite", "Downloads", "Formats", "HTTPSemantics",
                "PostgresClient", "Sealing", grdb, logging,
            ]),
        tests(
            "EngineTests",
            [
                "Base", "CLinux", "Engine", "Storage", "StoragePostgres", "StorageSQLite", "Downloads", "Formats",
                "HTTPSemantics", "CurlClient", "PostgresClient", logging,
            ]),
        tests(
            "WebhooksTests",
            ["Webhooks", "Storage", "StorageSQLite", "Downloads", "Formats", "HTTPSemantics", "CurlClient", logging]),
        tests("ConfigurationTests", ["Configuration", "CurlClient", "Downloads", "Formats", "Storage", logging]),
        tests("RehearsalsTests", ["Rehearsals", "CurlClient", "Downloads", "HTTPServer", httpTypes]),
        tests(
            "APITests",
            [
                "Base", "API", "Aria2RPC", "Configuration", "HTTPServer", "Downloads", "Formats", "HTTPSemantics",
                "Storage", "StorageSQLite", httpTypes, logging,
            ]),
        tests(
            "Aria2RPCTests",
            [
                "Aria2RPC", "CurlClient", "Downloads", "Engine", "Formats", "HTTPSemantics", "Storage",
                "StorageSQLite",
            ]),
        tests("ClientTests", ["Client", "Formats"]),
        tests("S3ClientTests", ["CurlClient", "Formats", "S3Client"]),
        // What scripts/check fuzz runs with random input, and a program that runs it with the corpus.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "API", "CurlClient", "Downloads", "Formats", "HTTPSemantics", "HTTPServer", "Lists", httpTypes,
            ],
            path: "Tests/Fuzzing/Sources", swiftSettings: strict),
        .executableTarget(
            name: "fuzz-replay", dependencies: ["FuzzTargets"], path: "Tests/Fuzzing/Replay", swiftSettings: strict),
        .executableTarget(
            name: "fetchd-client-consumer", dependencies: ["FetchdClient"], path: "Tests/Swift/LibraryConsumer",
            swiftSettings: strict),
        tests(
            "FetchdClientTests",
            [
                "FetchdClient", "Formats", "fetchd", "fetchd-client-consumer", "background-manager", "progress",
                "resume-after-relaunch", "all-done", "one-at-a-time", "post-parameters",
            ]),
        tests(
            "EndToEndTests",
            [
                "Base", "fetchd", "API", "Aria2RPC", "Configuration", "CurlClient", "Daemon", "Downloads", "Engine",
                "Formats", "HTTPSemantics", "HTTPServer", "PostgresClient", "Storage",
                "StorageSQLite", "Webhooks",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The program that scripts/check fuzz runs is built with a sanitizer, apart from everything else.
if Context.environment["FETCHD_FUZZING"] != nil {
    package.targets += [
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzzing/Program", swiftSettings: strict)
    ]
}
