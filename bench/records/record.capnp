# SPDX-License-Identifier: MIT
@0xbf5147cbbecf40c1;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bench::capn");
struct Item {
    id @0 :Int32;
    weight @1 :Float32;
    value @2 :Float64;
    stamp @3 :Int64;
    a @4 :Int16;
    b @5 :Int16;
    c @6 :Int16;
    d @7 :Int16;
}
struct Head {
    sequence @0 :Int64;
    time @1 :Float64;
    source @2 :Int32;
    items @3 :List(Item);
    x @4 :Float64;
    y @5 :Float64;
    z @6 :Float64;
    kind @7 :Int32;
    state @8 :Int32;
}
