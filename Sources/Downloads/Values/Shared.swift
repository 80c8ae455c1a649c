/// A large value that its copies share until one of them is changed.
///
/// A job is copied at each step of the writer: into a version, a cache, an outcome. Its specification does not change
/// meanwhile, and has some twenty references that each copy would retain. Other modules use it inlined, because a generic call
/// for each access costs more than the access.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    @usableFromInline var box: SharedBox<Value>

    @inlinable public init(wrappedValue: Value) { box = SharedBox(wrappedValue) }

    @inlinable public var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = SharedBox(box.value) }
            yield &box.value
        }
    }
}

/// The same for a value that most of its owners do not have. Without a value there is no memory.
@propertyWrapper
public struct SharedOptional<Value: Sendable>: Sendable {
    @usableFromInline var box: SharedBox<Value>?

    @inlinable public init(wrappedValue: Value?) { box = wrappedValue.map(SharedBox.init) }

    @inlinable public var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(SharedBox.init) }
    }
}

/// Its value changes only while there is one reference to it, so copies may be read on other threads.
@usableFromInline
final class SharedBox<Value: Sendable>: @unchecked Sendable {
    @usableFromInline var value: Value
    @inlinable init(_ value: Value) { self.value = value }
}

extension SharedBox: Equatable where Value: Equatable {
    @usableFromInline
    static func == (first: SharedBox, second: SharedBox) -> Bool { first === second || first.value == second.value }
}

extension Shared: Equatable where Value: Equatable {}
extension SharedOptional: Equatable where Value: Equatable {}
