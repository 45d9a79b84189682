// SPDX-License-Identifier: MIT
//
// record_xbyak.cpp - generates the conversion of an element with xbyak: a loop over the elements, whose body
// executes all lanes and then all steps, unrolled.
#include <asf/record_xbyak.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <xbyak/xbyak.h>
#include <xbyak/xbyak_util.h>
#pragma GCC diagnostic pop

namespace {

constexpr size_t MOST = 64 * 1024; // most bytes of code
constexpr uint32_t UNROLLED = 64;  // most numbers of one step, which the code unrolls

// rdi: source, rsi: target, rdx: elements; rax, rcx, r8 and xmm0 are free.
class Code : public Xbyak::CodeGenerator {
  public:
    explicit Code(const asf_record_element &shape) : CodeGenerator(MOST, Xbyak::DontSetProtectRWE) {
        Xbyak::Label loop;
        std::vector<Xbyak::Label> masks(shape.lanes_count), misfits(shape.steps_count);
        L(loop);
        for (size_t i = 0; i < shape.lanes_count; i++)
            lane(shape.lanes[i], masks[i]);
        for (size_t i = 0; i < shape.steps_count; i++)
            step(shape.steps[i], misfits[i]);
        add(rdi, shape.from);
        add(rsi, shape.to);
        dec(rdx);
        jnz(loop, T_NEAR);
        xor_(eax, eax);
        ret();
        for (size_t i = 0; i < shape.steps_count; i++) {
            L(misfits[i]);
            mov(eax, static_cast<uint32_t>(i + 1));
            ret();
        }
        align(16);
        for (size_t i = 0; i < shape.lanes_count; i++) {
            L(masks[i]);
            for (const unsigned char index : shape.lanes[i].mask)
                db(index);
        }
    }

  private:
    void lane(const asf_record_lane &lane, Xbyak::Label &mask) {
        movdqu(xmm0, ptr[rdi + lane.src]);
        pshufb(xmm0, ptr[rip + mask]);
        movdqu(ptr[rsi + lane.dst], xmm0);
    }

    void step(const asf_record_step &s, Xbyak::Label &misfit) {
        if (s.kind == ASF_RECORD_STEP_BYTES)
            return bytes(s);
        for (uint32_t i = 0; i < s.count; i++) {
            const Xbyak::Address to = ptr[rsi + (s.dst + i * s.to)];
            load(s, s.src + i * s.from);
            if (s.kind == ASF_RECORD_STEP_FLOAT) {
                convert(s, to, misfit);
            } else {
                if (s.kind == ASF_RECORD_STEP_NARROW)
                    check(s, misfit);
                store(s.to, to);
            }
        }
    }

    void bytes(const asf_record_step &s) {
        for (uint32_t i = 0; i < s.count; i++)
            mov(byte[rsi + (s.dst + i)], s.bytes[i]);
    }

    // Loads a number into rax, extended to 64 bits.
    void load(const asf_record_step &s, uint32_t at) {
        const Xbyak::RegExp from = rdi + at;
        const bool widen = s.kind != ASF_RECORD_STEP_FLOAT && s.from_signed;
        switch (s.from) {
        case 1:
            widen ? movsx(rax, byte[from]) : movzx(eax, byte[from]);
            break;
        case 2:
            movzx(eax, word[from]);
            if (s.swap)
                rol(ax, 8);
            if (widen)
                movsx(rax, ax);
            break;
        case 4:
            mov(eax, dword[from]);
            if (s.swap)
                bswap(eax);
            if (widen)
                movsxd(rax, eax);
            break;
        default:
            mov(rax, qword[from]);
            if (s.swap)
                bswap(rax);
        }
    }

    void store(uint8_t size, const Xbyak::Address &to) {
        size == 1 ? mov(to, al) : size == 2 ? mov(to, ax) : size == 4 ? mov(to, eax) : mov(to, rax);
    }

    // Jumps to `misfit` if rax does not fit.  It fits if its low part, extended again, is equal to it.  A
    // number of 64 bits fits if its top bit is 0, since then signed and unsigned agree.
    void check(const asf_record_step &s, Xbyak::Label &misfit) {
        if (s.to == 8) {
            test(rax, rax);
            js(misfit, T_NEAR);
            return;
        }
        if (s.to == 1)
            s.to_signed ? movsx(rcx, al) : movzx(ecx, al);
        else if (s.to == 2)
            s.to_signed ? movsx(rcx, ax) : movzx(ecx, ax);
        else
            s.to_signed ? movsxd(rcx, eax) : mov(ecx, eax);
        cmp(rcx, rax);
        jne(misfit, T_NEAR);
        if (!s.from_signed && s.to_signed) { // an unsigned number above INT64_MAX
            test(rax, rax);
            js(misfit, T_NEAR);
        }
    }

    void convert(const asf_record_step &s, const Xbyak::Address &to, Xbyak::Label &misfit) {
        if (s.to == 8) {
            movd(xmm0, eax);
            cvtss2sd(xmm0, xmm0);
            movsd(to, xmm0);
            return;
        }
        Xbyak::Label fits;
        mov(rcx, rax);
        add(rcx, rcx);                                          // shift the sign bit out
        mov(r8, uint64_t{0x47efffffe0000000} * 2 + 0x20000000); // bits of 0x1.ffffffp127, shifted left by 1
        cmp(rcx, r8);
        jb(fits);
        mov(r8, uint64_t{0x7ff0000000000000} * 2); // bits of infinity, shifted left by 1
        cmp(rcx, r8);
        jb(misfit, T_NEAR);
        L(fits);
        movq(xmm0, rax);
        cvtsd2ss(xmm0, xmm0);
        movss(to, xmm0);
    }
};

bool is_small(const asf_record_element &shape) {
    uint64_t numbers = shape.lanes_count;
    for (size_t i = 0; i < shape.steps_count; i++) {
        if (shape.steps[i].count > UNROLLED)
            return false;
        numbers += shape.steps[i].count;
    }
    return numbers <= MOST / 128;
}

int make(const asf_record_element *shape, asf_record_code *code, void **memory) {
    static const bool able = Xbyak::util::Cpu().has(Xbyak::util::Cpu::tSSSE3);
    if (!able || !is_small(*shape))
        return -ENOTSUP;
    try {
        auto made = std::make_unique<Code>(*shape);
        if (!made->setProtectModeRE(false)) // forbidden by SELinux or MDWE
            return -EACCES;
        *code = made->getCode<asf_record_code>();
        *memory = made.release();
        return 0;
    } catch (...) { // xbyak's exceptions, or bad_alloc
        return -ENOMEM;
    }
}

void discard(void *memory) {
    auto *code = static_cast<Code *>(memory);
    code->setProtectModeRW(false);
    delete code;
}

const asf_record_generator generator = {sizeof generator, ASF_RECORD_GENERATOR_VERSION, "xbyak", make,
                                        discard};

} // namespace

int asf_record_generate_xbyak(void) {
    return asf_record_generate_with(&generator);
}

#ifdef ASF_TEST_XBYAK
extern "C" const asf_record_generator *asf_test_xbyak_generator(void) {
    return &generator;
}
#endif
