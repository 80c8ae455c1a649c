// swift-tools-version: 5.9
import PackageDescription

let package = Package(
    name: "webhook-signature",
    platforms: [.macOS(.v12)],
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", from: "3.0.0")],
    targets: [
        .target(name: "WebhookSignature", dependencies: [.product(name: "Crypto", package: "swift-crypto")]),
        .executableTarget(name: "verify", dependencies: ["WebhookSignature"]),
    ])
