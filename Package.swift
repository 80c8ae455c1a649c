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

func layer(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["TestKit"], swiftSettings: strict)
}

let package = Package(
    name: "fetchd",
    products: [.executable(name: "fetchd", targets: ["fetchd"])],
    dependencies: dependencies,
    targets: [
        // C, as it is.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        // What everybody who shares state between threads needs.
        layer("Locks", ["CLinux"]),
        // The owner of a file descriptor.
        layer("Descriptors", []),
        // Digests and HMAC: the part of libcrypto that several layers need.
        layer("Hashing", ["CCrypto"]),

        // Bodies that a server has compressed.
        layer("Compression", ["CZlib"]),

        // Formats of text: JSON, times, identifiers, paths. And the rules of HTTP, as values.
        layer("Formats", []),
        layer("HTTPSemantics", ["Formats", structuredFields]),

        // C, as Swift; and the domain. None of the three knows another.
        layer("CurlClient", ["CCurl", "Descriptors", "Locks"]),
        layer("HTTPServer", ["CLinux", "CMicroHTTPD", "Descriptors", "Locks", httpTypes]),
        layer("Downloads", ["Formats", "HTTPSemantics"]),

        // What is remembered.
        layer("Storage", ["CSQLite", "Downloads", "Formats", "HTTPSemantics", "Locks", grdb, logging]),

        // What acts on it.
        layer(
            "Engine",
            [
                "CLinux", "Compression", "CurlClient", "Descriptors", "Downloads", "Formats", "HTTPSemantics",
                "Hashing",
                "Locks", "Storage", logging,
            ]),
        layer(
            "Webhooks",
            ["CurlClient", "Downloads", "Formats", "HTTPSemantics", "Hashing", "Locks", "Storage", logging]),

        // Downloads that are made up, for those who rehearse.
        layer("Rehearsals", ["Downloads", "HTTPServer", "Locks", httpTypes]),

        // What others see of it.
        layer(
            "API",
            [
                "Downloads", "Engine", "Formats", "HTTPSemantics", "HTTPServer", "Hashing", "Locks", "Storage",
                httpTypes, logging,
            ],
            // A link to the specification at the root: the binary serves what people read. And the page for people.
            resources: [.embedInCode("openapi.yaml"), .embedInCode("Dashboard")]),

        // Those who ask: they know the public API, and nothing of what is behind it.
        layer("Client", ["CurlClient", "Formats", "Hashing", "Locks", argumentParser]),

        // All of it together, started and stopped by code.
        layer(
            "Daemon",
            [
                "API", "CurlClient", "Downloads", "Engine", "HTTPServer", "Locks", "Rehearsals", "Storage", "Webhooks",
                logging,
            ]),

        .executableTarget(
            name: "fetchd",
            dependencies: [
                "API", "Client", "CurlClient", "Daemon", "Engine", "Formats", "HTTPServer", "Locks", "Storage",
                "Webhooks",
                argumentParser, logging,
            ],
            swiftSettings: strict),

        .target(
            name: "TestKit",
            dependencies: ["CurlClient", "Daemon", "Downloads", "Formats", "Hashing", "Locks", "Storage", logging],
            path: "Tests/TestKit", swiftSettings: strict),
        tests("HashingTests", ["Hashing"]),
        tests("CompressionTests", ["Compression"]),
        tests("CurlClientTests", ["CurlClient"]),
        tests("HTTPServerTests", ["Descriptors", "HTTPServer", "Locks", httpTypes]),
        tests("FormatsTests", ["Formats"]),
        tests("HTTPSemanticsTests", ["Formats", "HTTPSemantics"]),
        tests("DownloadsTests", ["Downloads", "Formats", "HTTPSemantics"]),
        tests("StorageTests", ["Storage", "Downloads", "Formats", "HTTPSemantics", "Locks", grdb]),
        tests(
            "EngineTests",
            [
                "CLinux", "Descriptors", "Engine", "Storage", "Downloads", "Formats", "HTTPSemantics", "CurlClient",
                "Locks",
                logging,
            ]),
        tests(
            "WebhooksTests",
            ["Webhooks", "Storage", "Downloads", "Formats", "HTTPSemantics", "CurlClient", logging]),
        tests("RehearsalsTests", ["Rehearsals", "CurlClient", "Downloads", "HTTPServer", httpTypes]),
        tests(
            "APITests", ["API", "HTTPServer", "Downloads", "Formats", "HTTPSemantics", "Locks", "Storage", httpTypes]),
        tests("ClientTests", ["Client"]),
        tests(
            "EndToEndTests",
            [
                "fetchd", "API", "CurlClient", "Daemon", "Downloads", "Engine", "Formats", "HTTPSemantics",
                "HTTPServer",
                "Hashing", "Storage", "Webhooks",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The program that scripts/fuzz runs is built with a sanitizer, apart from everything else.
if Context.environment["FETCHD_FUZZING"] != nil {
    package.targets += [
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CurlClient", "Downloads", "Formats", "HTTPSemantics", "HTTPServer", httpTypes,
            ],
            path: "Tests/Fuzzing/Sources", swiftSettings: strict)
    ]
}
